import { randomUUID } from 'node:crypto';
import type { PushConfigRecord, TaskKey } from 'nestjs-a2a';

/** A push config of a task, with secrets. */
export function pushConfigOf(
  task: TaskKey,
  { id = randomUUID(), ...fields }: { readonly id?: string } & Partial<Omit<PushConfigRecord, 'config' | 'owner'>> = {},
): PushConfigRecord {
  return {
    config: {
      id,
      taskId: task.id,
      url: 'https://receiver.example.com/hook?x=%20',
      token: 'a token',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    },
    owner: task.owner,
    createdAt: 1_000,
    ...fields,
  };
}
