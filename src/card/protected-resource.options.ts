import { A2AConfigurationError } from '../context/configuration.error.js';

/**
 * What clients are told of the OAuth 2 protection of the agent.
 *
 * @see RFC 9728 OAuth 2.0 Protected Resource Metadata
 */
export interface ProtectedResourceOptions {
  /** The issuers of tokens that the application's guards accept, as URLs; at least one. */
  readonly authorizationServers: readonly string[];
  /** What tokens are issued for, as a URL. @default the URL of the endpoint */
  readonly resource?: string;
  /** @default the scopes of all skills */
  readonly scopesSupported?: readonly string[];
  /** Where a token may be in a request. @default ['header'] */
  readonly bearerMethodsSupported?: readonly ('header' | 'body' | 'query')[];
  /** A name for people. @default the card's name */
  readonly resourceName?: string;
  /** A page for developers. @default the card's documentationUrl */
  readonly documentationUrl?: string;
}

/** The injection token of the {@link ProtectedResourceOptions}; `undefined` when nothing is told. */
export const A2A_PROTECTED_RESOURCE = Symbol('A2A_PROTECTED_RESOURCE');

/** @throws {A2AConfigurationError} for options that no metadata can be made of */
export function assertProtectedResource({ authorizationServers, resource }: ProtectedResourceOptions): void {
  const servers = Array.isArray(authorizationServers) ? (authorizationServers as readonly string[]) : [];
  const wrong = [...servers, ...(resource === undefined ? [] : [resource])].find((url) => !URL.canParse(url));
  if (servers.length > 0 && wrong === undefined) return;
  throw new A2AConfigurationError(
    wrong === undefined
      ? 'The option `protectedResource.authorizationServers` is empty. Name the URL of at least one authorization server.'
      : `The option \`protectedResource\` names ${JSON.stringify(wrong)}, which is no absolute URL. Correct it.`,
  );
}
