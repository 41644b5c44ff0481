import type { Tier } from '../context/tier.js';

/** How long what happens in one tier is gathered before it is looked at, in milliseconds. */
const GATHER = 200;

/** Gathers tiers for a while, and then hands each on once. */
export class TierQueue {
  private readonly waiting = new Map<string, Tier>();
  private timer: NodeJS.Timeout | undefined;

  /** @param handle never rejects */
  constructor(private readonly handle: (tier: Tier) => Promise<void>) {}

  add({ owner, tenant, scope }: Tier): void {
    this.waiting.set(JSON.stringify([owner, tenant, scope]), { owner, tenant, scope });
    this.timer ??= setTimeout(() => void this.flush(), GATHER).unref();
  }

  /** Hands on what waits. Never rejects. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const tiers = [...this.waiting.values()];
    this.waiting.clear();
    for (const tier of tiers) await this.handle(tier);
  }
}
