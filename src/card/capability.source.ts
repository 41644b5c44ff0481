import type { AgentCapabilities } from '#protocol';

/** Says what the agent can do beside the core of the protocol. The card declares what the operations then serve. */
export abstract class CapabilitySource {
  abstract capabilities(): AgentCapabilities;
}
