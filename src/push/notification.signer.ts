/** Vouches for notifications, so that a receiver knows who sent them. */
export abstract class NotificationSigner {
  /** @returns the headers that go with a notification */
  abstract headers(taskId: string, body: string): Promise<Readonly<Record<string, string>>>;
}
