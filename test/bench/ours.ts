import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { A2AModule, Skill, SkillInput, SkillTask, SkillText, TaskContext } from 'nestjs-a2a';

/** A server under measurement. */
export interface Subject {
  readonly name: string;
  /** Where JSON-RPC calls are posted to. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

@Injectable()
class BenchSkills {
  @Skill('echo')
  echo(@SkillText() text: string): string {
    return text;
  }

  @Skill('chunks')
  async *chunks(@SkillInput() { count, size }: { count: number; size: number }): AsyncGenerator<string> {
    const chunk = 'x'.repeat(size);
    for (let index = 0; index < count; index++) {
      await Promise.resolve();
      yield chunk;
    }
  }

  /** Waits for another message, then streams chunks. */
  @Skill('pause')
  async *pause(@SkillInput() { count, size }: { count?: number; size?: number }, @SkillTask() task: TaskContext) {
    if (count === undefined) await task.requireInput();
    else yield* this.chunks({ count, size: size ?? 0 });
  }

  @Skill('paced')
  async paced(@SkillInput() { count }: { count: number }, @SkillTask() task: TaskContext): Promise<number[]> {
    const artifactId = 'paced';
    const nanoseconds: number[] = [];
    for (let index = 0; index < count; index++) {
      const began = process.hrtime.bigint();
      await task.artifact({ artifactId, parts: [{ text: 'x'.repeat(64) }] }, { append: true });
      nanoseconds.push(Number(process.hrtime.bigint() - began));
    }
    return nanoseconds;
  }
}

@Module({
  imports: [
    A2AModule.forRoot({
      card: { name: 'Bench', description: 'An agent to be measured.' },
      principal: () => ({ owner: 'bench' }),
      maxConcurrentRunsPerOwner: -1,
      maxStreamSeatsPerOwner: -1,
      maxTaskBytes: -1,
      push: { allowPrivate: true },
    }),
  ],
  providers: [BenchSkills],
})
class BenchModule {}

/** Starts an application with this package on a free port, tasks in memory. */
export async function startOurs(): Promise<Subject> {
  const app = await NestFactory.create(BenchModule, { logger: false, forceCloseConnections: true });
  await app.listen(0, '127.0.0.1');
  const url = (await app.getUrl()).replace('localhost', '127.0.0.1');
  return { name: 'nestjs-a2a', url: `${url}/a2a`, close: () => app.close() };
}
