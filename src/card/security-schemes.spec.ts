import { describe, expect, it } from '@jest/globals';
import { encode } from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { apiKey, httpBasic, httpBearer, mutualTls, oauth2, openIdConnect } from './security-schemes.js';

const scopes = { 'invoices:read': 'Reads invoices.' };
const tokenUrl = 'https://id.example.com/token';
const authorizationUrl = 'https://id.example.com/authorize';
const deviceAuthorizationUrl = 'https://id.example.com/device';

describe('A security scheme', () => {
  it.each([
    ['httpBearer', httpBearer(), { httpAuthSecurityScheme: { scheme: 'Bearer' } }],
    ['httpBearer', httpBearer('JWT'), { httpAuthSecurityScheme: { scheme: 'Bearer', bearerFormat: 'JWT' } }],
    ['httpBasic', httpBasic(), { httpAuthSecurityScheme: { scheme: 'Basic' } }],
    ['apiKey', apiKey('cookie', 'sid'), { apiKeySecurityScheme: { location: 'cookie', name: 'sid' } }],
    ['openIdConnect', openIdConnect('https://x'), { openIdConnectSecurityScheme: { openIdConnectUrl: 'https://x' } }],
    ['mutualTls', mutualTls(), { mtlsSecurityScheme: {} }],
    [
      'oauth2',
      oauth2({ authorizationCode: { authorizationUrl, tokenUrl, scopes, pkceRequired: true } }),
      {
        oauth2SecurityScheme: {
          flows: { authorizationCode: { authorizationUrl, tokenUrl, scopes, pkceRequired: true } },
        },
      },
    ],
    [
      'oauth2',
      oauth2({ clientCredentials: { tokenUrl, scopes } }, 'https://id.example.com/meta'),
      {
        oauth2SecurityScheme: {
          flows: { clientCredentials: { tokenUrl, scopes } },
          oauth2MetadataUrl: 'https://id.example.com/meta',
        },
      },
    ],
    [
      'oauth2',
      oauth2({ deviceCode: { deviceAuthorizationUrl, tokenUrl, scopes } }),
      { oauth2SecurityScheme: { flows: { deviceCode: { deviceAuthorizationUrl, tokenUrl, scopes } } } },
    ],
  ])('of %s has the shape of the protocol (CARD-04, §4.5)', (_name, scheme, expected) => {
    expect(encode('SecurityScheme', scheme)).toEqual(expected);
  });

  it.each([{}, { clientCredentials: { tokenUrl, scopes }, deviceCode: { deviceAuthorizationUrl, tokenUrl, scopes } }])(
    'of OAuth 2 has exactly one flow (§4.5.7)',
    (flow) => {
      expect(() => oauth2(flow as never)).toThrow(A2AConfigurationError);
    },
  );
});
