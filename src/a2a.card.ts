import type { Provider } from '@nestjs/common';
import { EndpointPath } from './bindings/body/endpoint-path.js';
import { Challenger } from './bindings/jsonrpc/challenger.js';
import { AgentCardDocument } from './bindings/well-known/agent-card.document.js';
import { JwksDocument } from './bindings/well-known/jwks.document.js';
import { ProtectedResourceDocument } from './bindings/well-known/protected-resource.document.js';
import { A2A_WELL_KNOWN_DOCUMENTS, type WellKnownDocument } from './bindings/well-known/well-known-document.js';
import { WellKnownRoutes } from './bindings/well-known/well-known.routes.js';
import { BaseUrlResolver } from './card/base-url.resolver.js';
import { CapabilitySource } from './card/capability.source.js';
import { CardBuilder } from './card/card.builder.js';
import { CardInspector } from './card/card.inspector.js';
import { CardSeal } from './card/card.seal.js';
import { CardService } from './card/card.service.js';
import { A2A_MOUNTED_BINDINGS, type MountedBinding } from './card/mounted-binding.js';
import { ProtectedResource } from './card/protected-resource.js';
import { CapabilityPolicy } from './operations/capability.policy.js';
import { ExtendedCardService } from './operations/extended-card.service.js';

/** What tells of the agent: its card, the extended one, and who may call. */
export const CARD_PROVIDERS: readonly Provider[] = [
  AgentCardDocument,
  BaseUrlResolver,
  CardBuilder,
  CardInspector,
  CardSeal,
  CardService,
  Challenger,
  ExtendedCardService,
  JwksDocument,
  ProtectedResource,
  ProtectedResourceDocument,
  WellKnownRoutes,
  { provide: CapabilitySource, useExisting: CapabilityPolicy },
  {
    provide: A2A_MOUNTED_BINDINGS,
    inject: [EndpointPath],
    useFactory: (path: EndpointPath): readonly MountedBinding[] => [
      { protocolBinding: 'JSONRPC', urlAt: (base) => base + path.value },
    ],
  },
  {
    provide: A2A_WELL_KNOWN_DOCUMENTS,
    inject: [AgentCardDocument, JwksDocument, ProtectedResourceDocument],
    useFactory: (...documents: WellKnownDocument[]): readonly WellKnownDocument[] => documents,
  },
];
