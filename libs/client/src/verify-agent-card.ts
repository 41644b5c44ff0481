import { canonicalAgentCard, type AgentCard, type JsonObject, type JsonValue } from '#protocol';
import { DEFAULT_CARD_ALGORITHMS, isCardAlgorithm, type CardAlgorithm } from './card-algorithm.js';
import type { JwkSet } from './jwk-set.js';
import { jwksFetch, type JwksFetch } from './jwks-fetch.js';
import { allowedAlgorithm, checkSignature } from './signature-check.js';
import { readSignature, type CardSignature } from './signature-reader.js';
import { TrustedKeys, type FoundKeys, type KeySource } from './trusted-keys.js';
import { AgentCardVerificationError, type SignatureFailure, type VerificationErrorCode } from './verification-error.js';

/** Whom {@link verifyAgentCard} trusts. With neither keys nor hosts no card is verified. */
export interface VerifyAgentCardOptions {
  /** Keys that are known and trusted. Take expired and revoked ones off. @default none */
  readonly keys?: JwkSet;
  /** The key sets that are trusted, by their https URLs: those that a `jku` may name. @default none */
  readonly jwksUrls?: readonly string[];
  /**
   * Hosts whose key sets are trusted, such as `keys.example.com` or `keys.example.com:8443`. A `jku` at another host is
   * never fetched. @default none
   */
  readonly jwksHosts?: readonly string[];
  /** @default ['ES256', 'ES384', 'ES512', 'EdDSA'] */
  readonly algorithms?: readonly CardAlgorithm[];
  /** Reads a key set. @default over https, from public hosts, without redirects, at most 64 KiB */
  readonly fetchJwks?: JwksFetch;
  /** How long all key sets of the card may take together, in milliseconds. @default 5 seconds */
  readonly fetchTimeoutMs?: number;
  /** Gives the fetching of key sets up. */
  readonly signal?: AbortSignal;
}

/** A card of which one signature is good. */
export interface VerifiedCard {
  /** What the signature covers, and nothing else: go on with this, not with the card as it was received. */
  readonly card: AgentCard;
  /** The place of the good signature in the card, from 0. */
  readonly index: number;
  readonly kid: string;
  readonly alg: CardAlgorithm;
  readonly source: KeySource;
  /** Where the key was read, when it is not a pinned one. */
  readonly jku?: string;
}

/** A card with more is refused, so that it cannot make work without end. */
export const MAX_CARD_SIGNATURES = 16;

const DEFAULT_FETCH_TIMEOUT_MS = 5_000;

/**
 * Verifies that somebody trusted signed a card as it is.
 *
 * - One good signature is enough; the first one counts. Pinned keys are tried for all signatures before anything is fetched.
 * - A card cannot choose whom it is trusted by: its `kid` selects among trusted keys, its `jku` is looked at only when its
 *   host is on the list, and its `alg` must be on the list and fit the key.
 * - Fields that the schema does not know, the unprotected header, and `signatures` are not covered, and not in the result.
 *
 * @param received The card as it was received, parsed.
 * @throws {AgentCardVerificationError} When no signature is good.
 * @throws {TypeError} When the options make no sense.
 * @see A2A v1.0 §8.4.3 Signature Verification
 */
export async function verifyAgentCard(
  received: AgentCard | JsonObject,
  options: VerifyAgentCardOptions,
): Promise<VerifiedCard> {
  const { algorithms = DEFAULT_CARD_ALGORITHMS, fetchTimeoutMs = DEFAULT_FETCH_TIMEOUT_MS } = options;
  const unusable = (algorithms as readonly string[]).find((alg) => !isCardAlgorithm(alg));
  if (unusable !== undefined) throw new TypeError(`algorithms: "${unusable}" cannot be used for cards`);
  const trusted = new TrustedKeys(options, options.fetchJwks ?? jwksFetch(), () => {
    const timeout = AbortSignal.timeout(fetchTimeoutMs);
    return options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  });

  const payload = payloadOf(received);
  const failures: SignatureFailure[] = [];
  const unknown: [number, CardSignature][] = [];
  const check = async (index: number, signature: CardSignature, { source, keys }: FoundKeys): Promise<VerifiedCard> => {
    const alg = allowedAlgorithm(signature, algorithms);
    await checkSignature(payload, signature, alg, keys);
    const { kid, jku } = signature;
    const card = JSON.parse(payload) as AgentCard;
    return { card, index, kid, alg, source, ...(source === 'jku' && jku !== undefined && { jku }) };
  };
  for (const [index, entry] of signaturesOf(received).entries()) {
    const verified = await attempt(index, failures, async () => {
      const signature = readSignature(entry);
      allowedAlgorithm(signature, algorithms);
      const found = await trusted.pinned(signature);
      if (found === undefined) unknown.push([index, signature]);
      return found && check(index, signature, found);
    });
    if (verified) return verified;
  }
  for (const [index, signature] of unknown) {
    const verified = await attempt(index, failures, async () =>
      check(index, signature, await trusted.remote(signature)),
    );
    if (verified) return verified;
  }
  throw refusal(failures);
}

function payloadOf(received: AgentCard | JsonObject): string {
  try {
    return canonicalAgentCard(received);
  } catch (cause) {
    throw new AgentCardVerificationError('malformed', 'The card is malformed.', [], { cause });
  }
}

function signaturesOf(received: AgentCard | JsonObject): readonly JsonValue[] {
  const signatures = (received.signatures ?? []) as JsonValue;
  if (!Array.isArray(signatures)) throw new AgentCardVerificationError('malformed', 'The signatures are no list.');
  if (signatures.length === 0) throw new AgentCardVerificationError('unsigned', 'The card is not signed.');
  if (signatures.length > MAX_CARD_SIGNATURES) {
    throw new AgentCardVerificationError('malformed', `The card has more than ${MAX_CARD_SIGNATURES} signatures.`);
  }
  return signatures;
}

async function attempt(
  index: number,
  failures: SignatureFailure[],
  check: () => Promise<VerifiedCard | undefined>,
): Promise<VerifiedCard | undefined> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof AgentCardVerificationError)) throw error;
    failures.push({ index, code: error.code, message: error.message });
    return undefined;
  }
}

/** From the first to fail to the last: what a signature that fails later had right. */
const STAGES: readonly VerificationErrorCode[] = [
  'malformed',
  'algorithm_not_allowed',
  'untrusted_key',
  'key_unavailable',
  'bad_signature',
];

function refusal(failures: readonly SignatureFailure[]): AgentCardVerificationError {
  const ordered = [...failures].sort((one, other) => one.index - other.index);
  const [furthest] = [...ordered].sort((one, other) => STAGES.indexOf(other.code) - STAGES.indexOf(one.code));
  const { code, message } = furthest ?? { code: 'unsigned', message: 'The card is not signed.' };
  return new AgentCardVerificationError(code, message, ordered);
}
