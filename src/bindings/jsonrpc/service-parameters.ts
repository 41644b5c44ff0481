import type { IncomingMessage } from 'node:http';
import {
  ExtensionSupportRequiredError,
  PROTOCOL_VERSION,
  scrub,
  supportsVersion,
  VersionNotSupportedError,
  type AgentExtension,
} from '#protocol';

/**
 * The protocol version that a request asks for, from the header or else the query.
 *
 * @throws {VersionNotSupportedError} when it is not served; absent is served unless the policy is strict
 * @see A2A v1.0 §3.6.2 Server Responsibilities
 */
export function negotiateVersion({ headers, url }: IncomingMessage, policy: 'lenient' | 'strict'): string {
  const asked = (first(headers['a2a-version']) || queryVersion(url)).trim();
  if (asked === '' ? policy === 'lenient' : supportsVersion(asked)) return PROTOCOL_VERSION;
  const named = asked === '' ? 'No A2A version was named.' : `A2A version ${scrub(asked, 32)} is not supported.`;
  throw new VersionNotSupportedError(named, { metadata: { supportedVersions: PROTOCOL_VERSION } });
}

/**
 * The extensions that a request asks for.
 *
 * @throws {ExtensionSupportRequiredError} when it does not ask for one that the agent requires
 * @see A2A v1.0 §4.6.3 Extension Versioning and Compatibility
 */
export function negotiateExtensions(
  { headers }: IncomingMessage,
  declared: readonly AgentExtension[],
): readonly string[] {
  const header = headers['a2a-extensions'];
  const requested = (Array.isArray(header) ? header.join(',') : (header ?? ''))
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');
  const missing = declared.find(({ uri, required }) => required === true && !requested.includes(uri));
  if (missing) {
    throw new ExtensionSupportRequiredError(`The extension ${missing.uri} is required.`, {
      metadata: { extension: missing.uri },
    });
  }
  return requested;
}

function queryVersion(url = ''): string {
  const query = url.indexOf('?');
  if (query < 0) return '';
  for (const [name, value] of new URLSearchParams(url.slice(query + 1))) {
    if (name.toLowerCase() === 'a2a-version') return value;
  }
  return '';
}

function first(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? '';
}
