import { resolveOptions, type A2AOptions } from '../../src/a2a.options.js';
import type { A2ASettings } from '../../src/context/settings.js';

/** The settings of a plain agent, but for the options given. */
export function settingsOf(options: Partial<A2AOptions> = {}, path = '/a2a'): A2ASettings {
  return resolveOptions(
    { card: { name: 'Test agent', description: 'An agent under test.' }, principal: () => null, ...options },
    path,
  );
}
