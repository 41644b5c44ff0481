import { setImmediate as nextTurn } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import {
  message,
  Skill,
  type JsonObject,
  type Message,
  type SendMessageConfiguration,
  type Task,
  type TaskContext,
} from 'nestjs-a2a';
import { Gate } from './gate.js';

/** What a throwing fixture says: nobody outside may ever see it. */
export const SECRET = 'SECRET-STACK-db://user:pw@host';

/** What the fixture skill was given in one run. */
export interface FixtureCall {
  readonly task: Task;
  readonly message: Message;
  readonly text: string;
  readonly owner: string;
  readonly tenant: string;
  readonly scopes: readonly string[] | null;
  readonly configuration: SendMessageConfiguration;
  readonly metadata: JsonObject;
  readonly signal: AbortSignal;
}

/**
 * One skill that does what the first word of the text says, with the numbers or words behind it.
 *
 * Every run is noted in {@link calls}; `hold` and `wait` stop at {@link gate}.
 */
@Injectable()
export class FixtureSkills {
  readonly calls: FixtureCall[] = [];
  readonly gate = new Gate();

  /** The runs on one task, in order. */
  callsOf(taskId: string): FixtureCall[] {
    return this.calls.filter(({ task }) => task.id === taskId);
  }

  @Skill('fixture', { description: 'Does what the first word says.', inputModes: ['text/plain', 'application/json'] })
  async run(task: TaskContext): Promise<unknown> {
    const text = task.message.parts.flatMap((part) => ('text' in part ? [part.text] : [])).join('\n');
    const { owner, tenant, scopes, configuration, metadata, signal } = task;
    const given = { task: task.task(), message: task.message, text };
    this.calls.push({ ...given, owner, tenant, scopes, configuration, metadata, signal });
    const [verb = '', ...words] = text.split(' ');
    return this.act(verb, words.join(' '), task);
  }

  private async act(verb: string, rest: string, task: TaskContext): Promise<unknown> {
    const ms = Number(rest);
    switch (verb) {
      case 'message':
        return message(rest);
      case 'input':
        return task.requireInput('More, please.');
      case 'auth':
        return task.requireAuth('Sign in at https://auth.example.com.');
      case 'fail':
        return task.fail('It cannot be done.');
      case 'reject':
        return task.reject('It will not be done.');
      case 'slow':
        return delay(ms, task.signal);
      case 'stubborn':
        return delay(ms);
      case 'throwfirst':
        throw new Error(SECRET);
      case 'throw':
        await task.working('Starting.');
        throw new Error(SECRET);
      case 'noterm':
        return task.working('Under way.');
      case 'chunks':
        return chunks();
      case 'orphan':
        await task.artifact({ artifactId: 'orphan', parts: [{ text: 'kept' }] }, { append: true });
        return undefined;
      case 'progress':
        return progress(ms, task);
      case 'busy':
        return busy(task);
      case 'metadata':
        await task.progress('First.', { a: 1, both: 'first' });
        await task.progress('Second.', { b: 2, both: 'second' });
        return undefined;
      case 'hold':
        await task.working('Held.');
        await this.gate.pass(task.signal);
        return rest;
      case 'wait':
        await this.gate.pass(task.signal);
        return rest;
      case 'deaf':
        await task.working('Held.');
        await this.gate.pass();
        return rest;
      default:
        return rest || verb;
    }
  }
}

async function progress(count: number, task: TaskContext): Promise<void> {
  for (let step = 0; step < count; step++) await task.progress(`Step ${step}.`);
}

/** Reports progress as fast as it can, until it is stopped. */
async function busy(task: TaskContext): Promise<void> {
  while (!task.signal.aborted) {
    await task.progress('Busy.');
    await nextTurn();
  }
}

function* chunks(): Generator<string> {
  for (let index = 0; index < 5; index++) yield `c${index}`;
}

function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
