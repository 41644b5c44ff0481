import { Inject, Injectable } from '@nestjs/common';
import {
  OPERATIONS,
  PushNotificationNotSupportedError,
  UnsupportedOperationError,
  type A2AMethod,
  type AgentCapabilities,
} from '#protocol';
import { CapabilitySource } from '../card/capability.source.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { A2A_PUSH_SETTINGS, type PushSettings } from '../push/push.settings.js';
import { TaskStore } from '../store/task.store.js';

/**
 * Knows what the agent can do beside the core, for its card and for its operations alike.
 *
 * @see A2A v1.0 §3.3.4 Capability Validation
 */
@Injectable()
export class CapabilityPolicy extends CapabilitySource {
  constructor(
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    @Inject(A2A_PUSH_SETTINGS) private readonly push: PushSettings,
    private readonly store: TaskStore,
  ) {
    super();
  }

  capabilities(): AgentCapabilities {
    const { extendedAgentCard, extensions, streaming } = this.settings;
    return {
      streaming,
      pushNotifications: this.push.isEnabled && this.store.pushConfigs !== undefined,
      ...(extensions.length > 0 && { extensions: structuredClone([...extensions]) }),
      ...(extendedAgentCard && { extendedAgentCard }),
    };
  }

  /**
   * @throws {UnsupportedOperationError} or {PushNotificationNotSupportedError} when the method needs a capability that
   * the card does not declare
   */
  assertServes(method: A2AMethod): void {
    const { capability } = OPERATIONS[method];
    if (capability === undefined || this.capabilities()[capability] === true) return;
    throw capability === 'pushNotifications'
      ? new PushNotificationNotSupportedError()
      : new UnsupportedOperationError(`This agent does not support ${method}.`);
  }
}
