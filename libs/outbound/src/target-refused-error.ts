/** Why a target is refused. The codes are stable. */
export type TargetRefusal =
  /** It is no URL, has no host, or is written so that two parsers may read it differently. */
  | 'INVALID_URL'
  | 'SCHEME_NOT_ALLOWED'
  | 'HTTPS_REQUIRED'
  | 'USERINFO_NOT_ALLOWED'
  | 'PORT_NOT_ALLOWED'
  /** The name of the host belongs to this machine or to a private network. */
  | 'HOST_NOT_PUBLIC'
  /** The host is, or its name stands for, an address that is not public. */
  | 'ADDRESS_NOT_PUBLIC';

const TEXTS: Readonly<Record<TargetRefusal, string>> = {
  INVALID_URL: 'The URL is not valid.',
  SCHEME_NOT_ALLOWED: 'The URL is neither http nor https.',
  HTTPS_REQUIRED: 'The URL is not https.',
  USERINFO_NOT_ALLOWED: 'The URL holds a user name or a password.',
  PORT_NOT_ALLOWED: 'The port of the URL is not allowed.',
  HOST_NOT_PUBLIC: 'The host of the URL is not public.',
  ADDRESS_NOT_PUBLIC: 'The host of the URL has an address that is not public.',
};

/**
 * A target that requests must not go to.
 *
 * The message may be shown to whoever named the target: it holds neither the URL nor an address.
 */
export class TargetRefusedError extends Error {
  override readonly name = 'TargetRefusedError';

  constructor(readonly reason: TargetRefusal) {
    super(TEXTS[reason]);
  }
}
