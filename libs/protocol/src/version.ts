/**
 * The protocol version that this package speaks.
 *
 * @see A2A v1.0 §3.6 Versioning
 */
export const PROTOCOL_VERSION = '1.0';

const MAJOR_MINOR = /^((?:0|[1-9]\d*)\.(?:0|[1-9]\d*))(?:\.(?:0|[1-9]\d*))?$/;

/**
 * Tells whether a version that a client names is spoken here. Only Major.Minor counts: a patch part is ignored.
 *
 * @param version What the client named, such as `1.0` or `1.0.1`; anything malformed is not spoken.
 * @see A2A v1.0 §3.6.2 Server Responsibilities
 */
export function supportsVersion(version: string): boolean {
  return MAJOR_MINOR.exec(version)?.[1] === PROTOCOL_VERSION;
}
