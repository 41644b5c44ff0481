import { bool, mapOf, message, oneof, repeated, required, string } from './field.js';

/** The security schemes that an agent card declares (A2A v1.0 §4.5). */
export const SECURITY_MESSAGES = {
  StringList: {
    list: repeated(string),
  },
  SecurityRequirement: {
    schemes: mapOf(message('StringList')),
  },
  SecurityScheme: {
    apiKeySecurityScheme: oneof('scheme', message('APIKeySecurityScheme')),
    httpAuthSecurityScheme: oneof('scheme', message('HTTPAuthSecurityScheme')),
    oauth2SecurityScheme: oneof('scheme', message('OAuth2SecurityScheme')),
    openIdConnectSecurityScheme: oneof('scheme', message('OpenIdConnectSecurityScheme')),
    mtlsSecurityScheme: oneof('scheme', message('MutualTlsSecurityScheme')),
  },
  APIKeySecurityScheme: {
    description: string,
    location: required(string),
    name: required(string),
  },
  HTTPAuthSecurityScheme: {
    description: string,
    scheme: required(string),
    bearerFormat: string,
  },
  OAuth2SecurityScheme: {
    description: string,
    flows: required(message('OAuthFlows')),
    oauth2MetadataUrl: string,
  },
  OpenIdConnectSecurityScheme: {
    description: string,
    openIdConnectUrl: required(string),
  },
  MutualTlsSecurityScheme: {
    description: string,
  },
  OAuthFlows: {
    authorizationCode: oneof('flow', message('AuthorizationCodeOAuthFlow')),
    clientCredentials: oneof('flow', message('ClientCredentialsOAuthFlow')),
    implicit: oneof('flow', message('ImplicitOAuthFlow')),
    password: oneof('flow', message('PasswordOAuthFlow')),
    deviceCode: oneof('flow', message('DeviceCodeOAuthFlow')),
  },
  AuthorizationCodeOAuthFlow: {
    authorizationUrl: required(string),
    tokenUrl: required(string),
    refreshUrl: string,
    scopes: required(mapOf(string)),
    pkceRequired: bool,
  },
  ClientCredentialsOAuthFlow: {
    tokenUrl: required(string),
    refreshUrl: string,
    scopes: required(mapOf(string)),
  },
  ImplicitOAuthFlow: {
    authorizationUrl: string,
    refreshUrl: string,
    scopes: mapOf(string),
  },
  PasswordOAuthFlow: {
    tokenUrl: string,
    refreshUrl: string,
    scopes: mapOf(string),
  },
  DeviceCodeOAuthFlow: {
    deviceAuthorizationUrl: required(string),
    tokenUrl: required(string),
    refreshUrl: string,
    scopes: required(mapOf(string)),
  },
};
