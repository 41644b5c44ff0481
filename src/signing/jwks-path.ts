/** Where the public keys are published, below the base URL of the application. */
export const JWKS_PATH = '/.well-known/jwks.json';
