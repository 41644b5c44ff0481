// A small host of the package, as a user writes one. check.mjs compiles it twice against the installed package, as an ES
// module and as a CommonJS module, and runs both.
import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { A2AModule, Skill, SkillText } from 'nestjs-a2a';
import assert from 'node:assert/strict';

@Injectable()
class Echo {
  @Skill('echo', { name: 'Echo', description: 'Says it again.', tags: ['test'] })
  echo(@SkillText() text: string): string {
    return text;
  }
}

@Module({
  imports: [
    A2AModule.forRoot({
      guards: [],
      card: { name: 'Host', description: 'A host.', version: '1.0.0' },
      principal: () => ({ owner: 'someone' }),
    }),
  ],
  providers: [Echo],
})
class HostModule {}

interface Answer {
  readonly result?: { readonly task?: { readonly status: { readonly state: string }; readonly artifacts?: unknown } };
}

async function main(): Promise<void> {
  const app = await NestFactory.create(HostModule, { logger: ['error', 'warn'], forceCloseConnections: true });
  try {
    await app.listen(0, '127.0.0.1');
    const response = await fetch(`${await app.getUrl()}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'SendMessage',
        params: { message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hi' }] } },
      }),
      signal: AbortSignal.timeout(20_000),
    });
    const body = await response.text();
    const task = (JSON.parse(body) as Answer).result?.task;
    assert.equal(task?.status.state, 'TASK_STATE_COMPLETED', body);
    assert.match(JSON.stringify(task.artifacts), /"text":"hi"/, body);
  } finally {
    await app.close();
  }
}

void main();
