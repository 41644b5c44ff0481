import { MemoryTaskStore } from 'nestjs-a2a';
import { describeTaskStore } from './task-store.contract.js';

describeTaskStore('MemoryTaskStore', {
  create: async () => new MemoryTaskStore(),
  close: async () => {},
});
