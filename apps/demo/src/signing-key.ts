import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ConfigService } from '@nestjs/config';
import { dataFolder } from './environment.js';

/**
 * The key that the card is signed with, made when there is none. A real application is given one, the same for all replicas.
 *
 * @returns PEM. @default the file `signing-key.pem` beside the invoices; `SIGNING_KEY_FILE` names another one
 */
export async function signingKey(config: ConfigService): Promise<string> {
  const file = config.get<string>('SIGNING_KEY_FILE') ?? join(dataFolder(config), 'signing-key.pem');
  await mkdir(dirname(file), { recursive: true });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const made = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, made, { mode: 0o600 });
  // Of several processes that begin at the same time one gives its key the name, whole, and all read that one.
  await link(draft, file).catch(ifExists);
  await unlink(draft);
  return readFile(file, 'utf8');
}

function ifExists(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
