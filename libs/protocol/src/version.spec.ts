import { describe, expect, it } from '@jest/globals';
import { PROTOCOL_VERSION, supportsVersion } from './version.js';

describe('the protocol version', () => {
  it('is 1.0 (VER-01)', () => {
    expect(PROTOCOL_VERSION).toBe('1.0');
  });

  it.each(['1.0', '1.0.0', '1.0.1', '1.0.27'])('speaks %s: a patch part does not count (VER-02c, B-19)', (version) => {
    expect(supportsVersion(version)).toBe(true);
  });

  it.each(['0.3', '0.5', '1.1', '9.9', '99.0', '10.0', '2.0.0'])('does not speak %s (VER-02a)', (version) => {
    expect(supportsVersion(version)).toBe(false);
  });

  it.each(['', '1', 'v1.0', '1.0.', '1.0.x', '01.0', '1.00', '1.0.1.1', ' 1.0', '1.0\n', '1,0', '1.0-rc1', '１.0'])(
    'does not take the malformed %j for a version',
    (version) => {
      expect(supportsVersion(version)).toBe(false);
    },
  );
});
