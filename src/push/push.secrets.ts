import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { TaskPushNotificationConfig } from '#protocol';
import type { PushConfigRecord } from '../store/push-config.record.js';
import { A2A_PUSH_SETTINGS, type PushSettings } from './push.settings.js';

/** What of a config is secret. */
interface Secrets {
  readonly token?: string;
  readonly credentials?: string;
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts the secrets of configs before they are stored, when the host gives keys.
 *
 * What is encrypted belongs to one config of one task and owner: moved to another row, it cannot be opened.
 */
@Injectable()
export class PushSecrets {
  private readonly keys: readonly { readonly id: string; readonly bytes: Buffer }[];

  constructor(@Inject(A2A_PUSH_SETTINGS) { encryptionKeys }: PushSettings) {
    this.keys = encryptionKeys.map((bytes) => ({ id: keyId(bytes), bytes }));
  }

  /** Takes the secrets out of a config, when there is a key and there are any. */
  seal(record: PushConfigRecord): PushConfigRecord {
    const [key] = this.keys;
    const { token, authentication, ...config } = record.config;
    if (!key || (token === undefined && authentication?.credentials === undefined)) return record;
    const secrets: Secrets = {
      ...(token !== undefined && { token }),
      ...(authentication?.credentials !== undefined && { credentials: authentication.credentials }),
    };
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key.bytes, nonce).setAAD(bindingOf(record));
    const text = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()]);
    const sealed = [key.id, Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')].join('.');
    return {
      ...record,
      config: { ...config, ...(authentication && { authentication: { scheme: authentication.scheme } }) },
      sealed,
    };
  }

  /**
   * The config with its secrets.
   *
   * @throws {Error} when it was encrypted with a key that is not there, or is not what was encrypted
   */
  open(record: PushConfigRecord): PushConfigRecord['config'] {
    const { config, sealed } = record;
    if (sealed === undefined) return config;
    const { token, credentials } = this.decrypt(sealed, record);
    const { authentication } = config;
    return {
      ...config,
      ...(token !== undefined && { token }),
      ...(authentication && credentials !== undefined && { authentication: { ...authentication, credentials } }),
    };
  }

  /** The config for its owner to see: with its secrets as far as they can be opened. */
  reveal(record: PushConfigRecord): PushConfigRecord['config'] {
    try {
      return this.open(record);
    } catch {
      return record.config;
    }
  }

  private decrypt(sealed: string, record: PushConfigRecord): Secrets {
    const [id, content = ''] = sealed.split('.');
    const key = this.keys.find((known) => known.id === id);
    if (!key) throw new Error('The key that the config was encrypted with is not among push.encryptionKeys.');
    const bytes = Buffer.from(content, 'base64url');
    const nonce = bytes.subarray(0, NONCE_BYTES);
    const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES })
      .setAAD(bindingOf(record))
      .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as Secrets;
  }
}

/** A config without its credentials. */
export function withoutCredentials<C extends TaskPushNotificationConfig>({ authentication, ...config }: C) {
  return { ...config, ...(authentication && { authentication: { scheme: authentication.scheme } }) };
}

function bindingOf({ config: { id, taskId }, owner }: PushConfigRecord): Buffer {
  return Buffer.from(JSON.stringify([owner, taskId, id]));
}

/** Tells keys apart, and tells nothing of them. */
function keyId(bytes: Buffer): string {
  return createHash('sha256').update('nestjs-a2a push key').update(bytes).digest('hex').slice(0, 8);
}
