import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A host in a process of its own. */
export interface SutProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends the process as a crash would. */
  readonly kill: () => Promise<void>;
}

/** Starts the built fixture host on a free port. */
export function startSut(env: Readonly<Record<string, string>>): Promise<SutProcess> {
  return startHost('sut', { LIMITS: 'off', ...env }, /^listening on (\S+)$/u);
}

/** Starts the built reference host on a free port. */
export function startDemo(env: Readonly<Record<string, string>>): Promise<SutProcess> {
  return startHost('demo', env, /^The agent's card: (\S+)\/\.well-known\//u);
}

/** @param announcement the line in which the host says where it is */
async function startHost(
  name: string,
  env: Readonly<Record<string, string>>,
  announcement: RegExp,
): Promise<SutProcess> {
  const main = fileURLToPath(new URL(`../../dist/apps/${name}/src/main.js`, import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = announcement.exec(line)?.[1];
    if (url === undefined) continue;
    return {
      url,
      child,
      kill: async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  throw new Error(`The host ${name} did not start.`);
}
