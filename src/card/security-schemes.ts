import type {
  AuthorizationCodeOAuthFlow,
  ClientCredentialsOAuthFlow,
  DeviceCodeOAuthFlow,
  OAuthFlows,
  SecurityScheme,
} from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';

/** How clients get a token: one of three flows. */
export type OAuth2Flow =
  | { readonly authorizationCode: AuthorizationCodeOAuthFlow }
  | { readonly clientCredentials: ClientCredentialsOAuthFlow }
  | { readonly deviceCode: DeviceCodeOAuthFlow };

/**
 * A bearer token in the `Authorization` header.
 *
 * @param format what the token is, for people, such as `JWT`
 * @see A2A v1.0 §4.5.3 HTTPAuthSecurityScheme
 */
export function httpBearer(format?: string): SecurityScheme {
  return { httpAuthSecurityScheme: { scheme: 'Bearer', ...(format !== undefined && { bearerFormat: format }) } };
}

/**
 * A user name and a password in the `Authorization` header.
 *
 * @see A2A v1.0 §4.5.3 HTTPAuthSecurityScheme
 */
export function httpBasic(): SecurityScheme {
  return { httpAuthSecurityScheme: { scheme: 'Basic' } };
}

/**
 * A key in a header, a cookie or the query.
 *
 * @param name of the header, cookie or query parameter, such as `x-api-key`
 * @see A2A v1.0 §4.5.2 APIKeySecurityScheme
 */
export function apiKey(location: 'header' | 'cookie' | 'query', name: string): SecurityScheme {
  return { apiKeySecurityScheme: { location, name } };
}

/**
 * A token of an OAuth 2 authorization server, got by one flow. For several flows name several schemes.
 *
 * @param flow such as `{ clientCredentials: { tokenUrl, scopes: { 'invoices:read': 'Reads invoices.' } } }`
 * @param metadataUrl of the authorization server's metadata (RFC 8414)
 * @throws {A2AConfigurationError} when there is not exactly one flow
 * @see A2A v1.0 §4.5.4 OAuth2SecurityScheme
 */
export function oauth2(flow: OAuth2Flow, metadataUrl?: string): SecurityScheme {
  if (Object.keys(flow).length !== 1) {
    throw new A2AConfigurationError('An OAuth 2 scheme has exactly one flow. Name a scheme for each.');
  }
  const flows: OAuthFlows = flow;
  return { oauth2SecurityScheme: { flows, ...(metadataUrl !== undefined && { oauth2MetadataUrl: metadataUrl }) } };
}

/**
 * A token of an OpenID provider.
 *
 * @param url of the provider's configuration, which ends with `/.well-known/openid-configuration`
 * @see A2A v1.0 §4.5.5 OpenIdConnectSecurityScheme
 */
export function openIdConnect(url: string): SecurityScheme {
  return { openIdConnectSecurityScheme: { openIdConnectUrl: url } };
}

/**
 * A certificate of the client.
 *
 * @see A2A v1.0 §4.5.6 MutualTlsSecurityScheme
 */
export function mutualTls(): SecurityScheme {
  return { mtlsSecurityScheme: {} };
}
