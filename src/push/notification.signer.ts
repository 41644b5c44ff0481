/** Vouches for notifications, so that a receiver knows who sent them. */
export abstract class NotificationSigner {
  /**
   * @param body the notification as it is sent, in UTF-8
   * @returns the headers that go with one attempt
   */
  abstract headers(taskId: string, body: string): Promise<Readonly<Record<string, string>>>;
}
