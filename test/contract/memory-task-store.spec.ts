import { MemoryTaskStore } from 'nestjs-a2a';
import { describeTaskStore } from 'nestjs-a2a/testing';

describeTaskStore('MemoryTaskStore', {
  create: async () => new MemoryTaskStore(),
  close: async () => {},
});
