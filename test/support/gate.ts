/** Holds callers until a test lets them go on. */
export class Gate {
  private readonly held = new Set<() => void>();
  private readonly watchers = new Set<() => void>();
  private isOpen = false;

  /** How many callers are held. */
  get waiting(): number {
    return this.held.size;
  }

  /** Waits for the gate to open; with a signal, also until that aborts. */
  async pass(signal?: AbortSignal): Promise<void> {
    if (this.isOpen || signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        this.held.delete(go);
        resolve();
      };
      this.held.add(go);
      signal?.addEventListener('abort', go, { once: true });
      this.watchers.forEach((notice) => {
        notice();
      });
    });
  }

  /** Resolves when so many callers are held. */
  async whenWaiting(count = 1): Promise<void> {
    if (this.waiting >= count) return;
    await new Promise<void>((resolve) => {
      const notice = (): void => {
        if (this.waiting < count) return;
        this.watchers.delete(notice);
        resolve();
      };
      this.watchers.add(notice);
    });
  }

  /** Lets those go on who are held now. */
  letGo(): void {
    [...this.held].forEach((go) => {
      go();
    });
  }

  /** Lets everybody go on, from now on. */
  open(): void {
    this.isOpen = true;
    this.letGo();
  }
}
