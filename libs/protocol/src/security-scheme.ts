/** A list of strings, wrapped because a proto map cannot hold a bare one. */
export interface StringList {
  list: string[];
}

/**
 * Names of security schemes, each with the scopes it needs.
 *
 * @see A2A v1.0 §4.4.1 AgentCard
 */
export interface SecurityRequirement {
  schemes: Record<string, StringList>;
}

/**
 * Exactly one of the five kinds.
 *
 * @see A2A v1.0 §4.5.1 SecurityScheme
 */
export type SecurityScheme =
  | { apiKeySecurityScheme: APIKeySecurityScheme }
  | { httpAuthSecurityScheme: HTTPAuthSecurityScheme }
  | { oauth2SecurityScheme: OAuth2SecurityScheme }
  | { openIdConnectSecurityScheme: OpenIdConnectSecurityScheme }
  | { mtlsSecurityScheme: MutualTlsSecurityScheme };

/** @see A2A v1.0 §4.5.2 APIKeySecurityScheme */
export interface APIKeySecurityScheme {
  description?: string;
  location: 'query' | 'header' | 'cookie';
  name: string;
}

/** @see A2A v1.0 §4.5.3 HTTPAuthSecurityScheme */
export interface HTTPAuthSecurityScheme {
  description?: string;
  scheme: string;
  bearerFormat?: string;
}

/** @see A2A v1.0 §4.5.4 OAuth2SecurityScheme */
export interface OAuth2SecurityScheme {
  description?: string;
  flows: OAuthFlows;
  oauth2MetadataUrl?: string;
}

/** @see A2A v1.0 §4.5.5 OpenIdConnectSecurityScheme */
export interface OpenIdConnectSecurityScheme {
  description?: string;
  openIdConnectUrl: string;
}

/** @see A2A v1.0 §4.5.6 MutualTlsSecurityScheme */
export interface MutualTlsSecurityScheme {
  description?: string;
}

/**
 * Exactly one of the five flows; `implicit` and `password` are deprecated.
 *
 * @see A2A v1.0 §4.5.7 OAuthFlows
 */
export type OAuthFlows =
  | { authorizationCode: AuthorizationCodeOAuthFlow }
  | { clientCredentials: ClientCredentialsOAuthFlow }
  | { implicit: ImplicitOAuthFlow }
  | { password: PasswordOAuthFlow }
  | { deviceCode: DeviceCodeOAuthFlow };

/** @see A2A v1.0 §4.5.8 AuthorizationCodeOAuthFlow */
export interface AuthorizationCodeOAuthFlow {
  authorizationUrl: string;
  tokenUrl: string;
  refreshUrl?: string;
  /** Names of scopes, each with a short description. */
  scopes: Record<string, string>;
  pkceRequired?: boolean;
}

/** @see A2A v1.0 §4.5.9 ClientCredentialsOAuthFlow */
export interface ClientCredentialsOAuthFlow {
  tokenUrl: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}

/** Deprecated by the protocol: use the authorization code flow with PKCE. */
export interface ImplicitOAuthFlow {
  authorizationUrl?: string;
  refreshUrl?: string;
  scopes?: Record<string, string>;
}

/** Deprecated by the protocol: use the authorization code flow with PKCE, or the device code flow. */
export interface PasswordOAuthFlow {
  tokenUrl?: string;
  refreshUrl?: string;
  scopes?: Record<string, string>;
}

/** @see A2A v1.0 §4.5.10 DeviceCodeOAuthFlow */
export interface DeviceCodeOAuthFlow {
  deviceAuthorizationUrl: string;
  tokenUrl: string;
  refreshUrl?: string;
  scopes: Record<string, string>;
}
