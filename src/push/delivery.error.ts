/** A receiver did not take a notification. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
}
