import { readFile } from 'node:fs/promises';
import { types } from 'node:util';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { checkKey } from './key-check.js';
import { parseKeys } from './key-parser.js';
import { signingKeyError } from './signing-key.error.js';
import { SigningKeys, type LoadedKey } from './signing.keys.js';
import type { SigningKey, SigningKeyMaterial, SigningKeyNames, SigningOptions } from './signing.options.js';

/**
 * Reads and checks the keys that the agent signs with. Run it at boot.
 *
 * @param options undefined: the agent signs nothing, and there are no keys
 * @throws {A2AConfigurationError} when a key cannot be used, naming the key and the cure, and nothing of what it holds
 */
export async function loadSigningKeys(options: SigningOptions | undefined): Promise<SigningKeys> {
  if (options === undefined) return new SigningKeys([]);
  const { keys: source } = options;
  const entries: unknown = typeof source === 'function' ? await source() : source;
  if (!Array.isArray(entries) || entries.length === 0) {
    throw new A2AConfigurationError(
      `signing.keys is ${Array.isArray(entries) ? 'empty' : 'no list of keys'}. Give at least one key, or leave signing out.`,
    );
  }
  const loaded: LoadedKey[] = [];
  const labels = new Map<string, string>();
  for (const [index, entry] of (entries as readonly (SigningKey | null | undefined)[]).entries()) {
    for (const { label, key } of await loadEntry(entry, `Signing key ${index + 1}`)) {
      const other = labels.get(key.kid);
      if (other !== undefined) {
        throw signingKeyError(
          label,
          `has the kid of another: ${other}. Give one of them another kid, or take it off the list.`,
        );
      }
      labels.set(key.kid, label);
      loaded.push(key);
    }
  }
  return new SigningKeys(loaded);
}

/** A key with its name in errors. */
interface Labelled {
  readonly label: string;
  readonly key: LoadedKey;
}

async function loadEntry(entry: SigningKey | null | undefined, place: string): Promise<readonly Labelled[]> {
  const names: SigningKeyNames & { file?: unknown; key?: SigningKeyMaterial } = isWrapped(entry) ? entry : {};
  const isFile = typeof names.file === 'string';
  const label = isFile ? `${place} (${String(names.file)})` : place;
  const material = isFile ? await readText(String(names.file), label) : (names.key ?? (entry as SigningKeyMaterial));
  const parsed = parseKeys(material, label);
  if (parsed.length > 1 && names.kid !== undefined) {
    throw signingKeyError(label, 'has several keys, and one kid for them. Give each its kid in the set.');
  }
  return Promise.all(
    parsed.map(async (key, index) => {
      const name = parsed.length > 1 ? `${label}, key ${index + 1} of its set,` : label;
      return { label: name, key: await checkKey(key, names, name) };
    }),
  );
}

function isWrapped(entry: unknown): entry is Exclude<SigningKey, SigningKeyMaterial> {
  if (typeof entry !== 'object' || entry === null || types.isKeyObject(entry) || types.isCryptoKey(entry)) return false;
  return 'file' in entry || 'key' in entry;
}

async function readText(file: string, label: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw signingKeyError(
      label,
      `cannot be read (${String(code)}). Check that the file is there, and that this process may read it.`,
    );
  }
}
