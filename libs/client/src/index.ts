export { PublicTargetPolicy, TargetPolicy, TargetRefusedError, type PublicTargetPolicyOptions } from '#outbound';
export { DEFAULT_CARD_ALGORITHMS, type CardAlgorithm } from './card-algorithm.js';
export type { JwkSet, TrustedJwk } from './jwk-set.js';
export { jwksFetch, MAX_JWKS_BYTES, type JwksFetch, type JwksFetchOptions } from './jwks-fetch.js';
export { MemoryReplayStore, type MemoryReplayStoreOptions } from './notification/memory-replay-store.js';
export type { NotificationHeaders } from './notification/notification-headers.js';
export { NotificationRefusedError, type NotificationRefusalCode } from './notification/notification-refused-error.js';
export {
  NotificationVerifier,
  type NotificationRequest,
  type VerifiedNotification,
} from './notification/notification-verifier.js';
export type { NotificationVerifierOptions } from './notification/notification-verifier.options.js';
export { ReplayStore, ReplayStoreFullError } from './notification/replay-store.js';
export type { KeySource } from './trusted-keys.js';
export { AgentCardVerificationError, type SignatureFailure, type VerificationErrorCode } from './verification-error.js';
export {
  MAX_CARD_SIGNATURES,
  verifyAgentCard,
  type VerifiedCard,
  type VerifyAgentCardOptions,
} from './verify-agent-card.js';
