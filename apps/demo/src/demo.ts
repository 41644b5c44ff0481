import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { DevelopmentTokens, type Tokens } from './auth/development-tokens.js';
import { playConversation, playReturn } from './conversation.js';

const folder = await mkdtemp(join(tmpdir(), 'nestjs-a2a-demo-'));
process.env['DATA_FILE'] = join(folder, 'invoices.sqlite');
try {
  const taskId = await withApplication((url, tokens) => playConversation(url, tokens, console.log));
  await withApplication((url, tokens) => playReturn(url, tokens, taskId, console.log));
  console.log('\nEverything went as it should.');
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

/** Runs the application for as long as something is done with it. */
async function withApplication<T>(use: (url: string, tokens: Tokens) => Promise<T>): Promise<T> {
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  try {
    await app.listen(0, '127.0.0.1');
    return await use(await app.getUrl(), app.get(DevelopmentTokens).issue());
  } finally {
    await app.close();
  }
}
