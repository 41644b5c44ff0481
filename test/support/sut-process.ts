import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The fixture host in a process of its own. */
export interface SutProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Ends the process as a crash would. */
  readonly kill: () => Promise<void>;
}

/** Starts the built fixture host on a free port. */
export async function startSut(env: Readonly<Record<string, string>>): Promise<SutProcess> {
  const main = fileURLToPath(new URL('../../dist/apps/sut/src/main.js', import.meta.url));
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], PORT: '0', LIMITS: 'off', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /^listening on (\S+)$/u.exec(line)?.[1];
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
  throw new Error('The fixture host did not start.');
}
