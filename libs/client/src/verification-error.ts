/**
 * Why a card is not verified. Codes stay as they are; messages may change.
 *
 * - `unsigned`: the card has no signatures.
 * - `malformed`: the card, or a signature, is not as the specification has it.
 * - `untrusted_key`: no trusted key has the `kid`, or the `jku` is at a host that is not trusted.
 * - `key_unavailable`: the key set of a trusted host could not be read.
 * - `algorithm_not_allowed`: the `alg` is not on the list, or does not fit the key.
 * - `bad_signature`: a trusted key says that the signature is not its own, over this card.
 */
export type VerificationErrorCode =
  'unsigned' | 'malformed' | 'untrusted_key' | 'key_unavailable' | 'algorithm_not_allowed' | 'bad_signature';

/** What is wrong with one signature of a card. */
export interface SignatureFailure {
  /** The place of the signature in the card, from 0. */
  readonly index: number;
  readonly code: VerificationErrorCode;
  readonly message: string;
}

/** Says that a card must not be trusted: none of its signatures is good. */
export class AgentCardVerificationError extends Error {
  override readonly name = 'AgentCardVerificationError';

  /**
   * @param code Of several signatures, that of the one which came furthest.
   * @param failures One for each signature that was looked at.
   */
  constructor(
    readonly code: VerificationErrorCode,
    message: string,
    readonly failures: readonly SignatureFailure[] = [],
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
