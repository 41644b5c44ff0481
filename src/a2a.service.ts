import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import type { AgentCapabilities } from '#protocol';
import { OriginPolicy } from './bindings/body/origin.policy.js';
import { A2AConfigurationError } from './context/configuration.error.js';
import { A2A_SETTINGS, type A2ASettings } from './context/settings.js';
import type { SkillDescription } from './context/skill-description.js';
import { TaskEventBus } from './events/task-event.bus.js';
import { TaskEventRelay, type RelayState } from './events/task-event.relay.js';
import { LostRunSweeper } from './execution/lost-run.sweeper.js';
import { ReplicaHeartbeat } from './execution/replica.heartbeat.js';
import { TaskRunner } from './execution/task.runner.js';
import { CapabilityPolicy } from './operations/capability.policy.js';
import { SeatRegistry } from './operations/seat.registry.js';
import { PushDispatcher } from './push/push.dispatcher.js';
import { SkillRegistry } from './skills/skill.registry.js';
import { StoreProbe } from './store/store-probe.js';
import { TaskStore } from './store/task.store.js';

/** What goes on in the agent of this process. */
export interface A2AStatistics {
  /** Skills called since the process began. */
  readonly executions: number;
  /** Runs under way. */
  readonly liveRuns: number;
  /** Subscriptions to the updates of tasks. */
  readonly subscribers: number;
  /** Streams that are open. */
  readonly seats: number;
}

/** How the agent of this process is. Names no host, no credential and no error. */
export interface A2AHealth {
  /** Whether calls should be sent here: the store answers, and the process is not shutting down. */
  readonly isHealthy: boolean;
  readonly isShuttingDown: boolean;
  readonly store: 'reachable' | 'unreachable';
  /** How updates of other processes come. Each of these ways is healthy; one without a channel is slower. */
  readonly relay: RelayState;
  /** Runs under way. */
  readonly liveRuns: number;
  /** Streams that are open. */
  readonly openStreams: number;
}

/** The host's handle on its agent. Not available before the application has been initialised. */
@Injectable()
export class A2AService
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
{
  private isReady = false;
  private isEnding = false;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly registry: SkillRegistry,
    private readonly capabilityPolicy: CapabilityPolicy,
    private readonly origins: OriginPolicy,
    private readonly runner: TaskRunner,
    private readonly bus: TaskEventBus,
    private readonly relay: TaskEventRelay,
    private readonly heartbeat: ReplicaHeartbeat,
    private readonly sweeper: LostRunSweeper,
    private readonly store: TaskStore,
    private readonly seats: SeatRegistry,
    private readonly push: PushDispatcher,
    private readonly probe: StoreProbe,
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
  ) {}

  /** What the agent can do beside the core of the protocol. */
  capabilities(): AgentCapabilities {
    this.assertReady();
    return this.capabilityPolicy.capabilities();
  }

  /** Copies of the descriptions of all skills, explicit ones first. */
  skills(): SkillDescription[] {
    this.assertReady();
    return structuredClone([...this.registry.descriptions()]);
  }

  /** Replaces the list of browser origins that may call, at once and as a whole. */
  setAllowedOrigins(origins: readonly string[]): void {
    this.assertReady();
    this.origins.setAllowedOrigins(origins);
  }

  statistics(): A2AStatistics {
    return {
      executions: this.runner.executions,
      liveRuns: this.runner.liveRuns,
      subscribers: this.bus.subscriberCount,
      seats: this.seats.size,
    };
  }

  /** Asks the store for a sign of life, for two seconds at most. Never rejects, and may be called at any time. */
  async health(): Promise<A2AHealth> {
    const isReachable = await this.probe.isReachable();
    const { liveRuns, seats } = this.statistics();
    return {
      isHealthy: isReachable && this.isReady && !this.isEnding,
      isShuttingDown: this.isEnding,
      store: isReachable ? 'reachable' : 'unreachable',
      relay: this.relay.state,
      liveRuns,
      openStreams: seats,
    };
  }

  /**
   * Starts no more runs, lets live ones finish for a while, cancels the rest and waits until each has stored its end.
   * Then ends all streams, waits until their readers have seen how, and brings home the notifications that are under way.
   * Reads are still answered. Called when the application is closed; calling it twice does nothing more.
   */
  shutdown(): Promise<void> {
    this.isEnding = true;
    return (this.closing ??= this.close());
  }

  async onApplicationBootstrap(): Promise<void> {
    this.relay.start();
    await this.heartbeat.start();
    this.sweeper.start();
    this.push.start();
    this.isReady = true;
  }

  /** Before anything is waited for, so that who asks for health learns of it as long as requests are still taken. */
  onModuleDestroy(): void {
    this.isEnding = true;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.shutdown();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sweeper.stop();
    await this.relay.stop();
    await this.heartbeat.stop();
    await this.store.close?.();
  }

  private async close(): Promise<void> {
    const { drainMs, shutdownTimeout } = this.settings;
    const end = performance.now() + shutdownTimeout;
    await this.runner.shutdown(drainMs, shutdownTimeout);
    const left = Math.max(0, end - performance.now());
    await Promise.all([this.seats.endAll(left), this.push.stop(left)]);
  }

  private assertReady(): void {
    if (!this.isReady) {
      throw new A2AConfigurationError('The agent is not ready before the application has been initialised.');
    }
  }
}
