import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { type Receiver, startReceiver } from '../../../test/support/receiver.js';

/** Changes that some packages make to a process so that all its requests go through a proxy. */
const BOOTSTRAP = `
  import http from 'node:http';
  import https from 'node:https';
  import { syncBuiltinESMExports } from 'node:module';
  import { connect } from 'node:net';
  const port = Number(new URL(process.env.HTTP_PROXY).port);
  class ProxyAgent extends http.Agent { createConnection() { return connect(port, '127.0.0.1'); } }
  http.globalAgent = https.globalAgent = new ProxyAgent();
  const { request } = http;
  http.request = (url, options, callback) => request(url, { ...options, agent: http.globalAgent }, callback);
  syncBuiltinESMExports();
`;

describe('The environment of a process', () => {
  let folder: string;
  let receiver: Receiver;
  let proxy: Receiver;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'outbound-'));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    const sources = (await readdir(import.meta.dirname)).filter((name) => /(?<!\.spec)\.ts$/u.test(name));
    for (const name of sources) {
      const { outputText } = ts.transpileModule(await readFile(join(import.meta.dirname, name), 'utf8'), {
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true },
      });
      await writeFile(join(folder, name.replace(/\.ts$/u, '.js')), outputText);
    }
    receiver = await startReceiver((_request, response) => response.end('the receiver'));
    proxy = await startReceiver((_request, response) => response.end('the proxy'));
  });

  afterAll(async () => {
    await Promise.all([receiver.close(), proxy.close(), rm(folder, { recursive: true })]);
  });

  it.each([
    ['variables', ''],
    ['variables and a replaced agent and request', BOOTSTRAP],
  ])('does not lead a request through a proxy by %s (SSRF-06)', async (_name, bootstrap) => {
    const main = join(folder, 'main.js');
    const url = `http://hook.example:${receiver.port}/`;
    await writeFile(
      main,
      `${bootstrap}
      const { guardedRequest, PublicTargetPolicy } = await import('./index.js');
      const policy = new PublicTargetPolicy({ allowPrivate: true, lookup: async () => ['127.0.0.1'] });
      const { body } = await guardedRequest('${url}', { policy });
      process.stdout.write(body);`,
    );
    const address = `http://127.0.0.1:${proxy.port}`;
    const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [name, name.toLowerCase()]);
    const { stdout } = await promisify(execFile)(process.execPath, [main], {
      env: { NODE_USE_ENV_PROXY: '1', ...Object.fromEntries(names.map((name) => [name, address])) },
    });
    expect(stdout).toBe('the receiver');
    expect(proxy.connections).toBe(0);
  });
});
