import { flattenedVerify, type FlattenedJWSInput } from 'jose';
import { fitsKey, type CardAlgorithm } from './card-algorithm.js';
import type { CardSignature } from './signature-reader.js';
import { importPublicKey, type TrustedJwk } from './jwk-set.js';
import { AgentCardVerificationError } from './verification-error.js';

/**
 * The algorithm of a signature, when it is one of those.
 *
 * @throws {AgentCardVerificationError} `algorithm_not_allowed`
 */
export function allowedAlgorithm({ alg }: CardSignature, algorithms: readonly CardAlgorithm[]): CardAlgorithm {
  const found = algorithms.find((each) => each === alg);
  if (found === undefined) throw notAllowed('The "alg" of the signature is not allowed.');
  return found;
}

/**
 * Checks a signature over a payload with each of the keys that its algorithm fits, until one is good.
 *
 * @throws {AgentCardVerificationError} `algorithm_not_allowed` when it fits none, `bad_signature` when none is good.
 */
export async function checkSignature(
  payload: string,
  { protected: header, signature }: CardSignature,
  alg: CardAlgorithm,
  keys: readonly TrustedJwk[],
): Promise<void> {
  const fitting = keys.filter((key) => fitsKey(alg, key));
  if (fitting.length === 0) throw notAllowed('The "alg" of the signature does not fit the trusted key.');
  const jws = { protected: header, signature, payload: Buffer.from(payload).toString('base64url') };
  for (const key of fitting) {
    if (await isGood(jws, key, alg)) return;
  }
  throw new AgentCardVerificationError('bad_signature', 'The signature is not that of the trusted key over this card.');
}

async function isGood(jws: FlattenedJWSInput, jwk: TrustedJwk, alg: CardAlgorithm): Promise<boolean> {
  try {
    await flattenedVerify(jws, await importPublicKey(jwk, alg), { algorithms: [alg] });
    return true;
  } catch {
    // A key that cannot be read makes no signature good either.
    return false;
  }
}

function notAllowed(message: string): AgentCardVerificationError {
  return new AgentCardVerificationError('algorithm_not_allowed', message);
}
