export { isPublicAddress } from './address-policy.js';
export type { GuardedResponse } from './exchange.js';
export * from './guarded-request.js';
export type { NameLookup } from './name-lookup.js';
export { parseTarget } from './parse-target.js';
export * from './public-target-policy.js';
export * from './request-timeout-error.js';
export * from './target-policy.js';
export * from './target-refused-error.js';
