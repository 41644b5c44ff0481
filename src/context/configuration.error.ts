/** The module cannot be started as it is configured. The message names what is wrong and the cure. */
export class A2AConfigurationError extends Error {
  override readonly name = 'A2AConfigurationError';
}
