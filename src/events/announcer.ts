import type { StoreChannel } from '../store/store-channel.js';
import { encodeAnnouncement } from './announcement.js';

/**
 * Tells other processes of new versions.
 *
 * - What comes in one turn, and while a text is under way, leaves together; of one task only its newest version.
 * - A text that cannot be sent is dropped: those who wait for it look for themselves.
 */
export class Announcer {
  private waiting = new Map<string, number>();
  private sending: Promise<void> | undefined;

  constructor(private readonly channel: StoreChannel) {}

  add(id: string, version: number): void {
    this.waiting.set(id, Math.max(version, this.waiting.get(id) ?? 0));
    this.sending ??= this.drain();
  }

  /** Waits until nothing is left to send. Never rejects. */
  async idle(): Promise<void> {
    await this.sending;
  }

  private async drain(): Promise<void> {
    await Promise.resolve();
    while (this.waiting.size > 0) {
      const texts = encodeAnnouncement(this.waiting);
      this.waiting = new Map();
      for (const text of texts) await this.channel.send(text).catch(() => undefined);
    }
    this.sending = undefined;
  }
}
