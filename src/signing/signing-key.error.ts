import { A2AConfigurationError } from '../context/configuration.error.js';

/**
 * Says what is wrong with a signing key, and the cure. It has no cause: the errors of readers quote what they read.
 *
 * @param label which key, such as `Signing key 2 (keys/b.pem)`
 */
export function signingKeyError(label: string, problem: string): A2AConfigurationError {
  return new A2AConfigurationError(`${label} ${problem}`);
}
