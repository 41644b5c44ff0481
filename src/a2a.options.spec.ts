import { describe, expect, it } from '@jest/globals';
import { settingsOf } from '../test/support/settings.js';
import { DEFAULT_PATH, resolveOptions, type A2AOptions } from './a2a.options.js';
import { A2AConfigurationError } from './context/configuration.error.js';

const MIB = 1_048_576;
const MAX_DELAY = 2_147_483_647;

describe('The defaults (OPS-02)', () => {
  it('mount the endpoint at /a2a (PKG-06)', () => {
    expect(DEFAULT_PATH).toBe('/a2a');
  });

  it.each([
    ['maxBodyBytes', MIB, 'GATE-06a'],
    ['maxTaskBytes', 16 * MIB, 'R-35'],
    ['maxHistory', 200, 'LIFE-13a'],
    ['defaultPageSize', 50, 'LIST-02a'],
    ['maxPageSize', 100, 'CONF-01'],
    ['taskTimeout', 300_000, 'LIFE-05a'],
    ['storeTimeout', 30_000, 'LIFE-08b'],
    ['maxConcurrentRunsPerOwner', 16, 'CAP-01'],
    ['terminalTaskRetention', 64, 'RET-02a'],
    ['pausedTaskRetention', 64, 'RET-03a'],
    ['streaming', true, 'PKG-07c'],
    ['closeOnInterrupted', 'send', 'R-05'],
    ['keepAlive', 15_000, 'STRM-04a'],
    ['writeDeadline', 10_000, 'STRM-05'],
    ['maxStreamSeatsPerOwner', 16, 'CAP-04'],
    ['streamSeatOverflow', 'refuse', 'CAP-05a'],
    ['drainMs', 10_000, 'R-40'],
    ['shutdownTimeout', 15_000, 'SHUT-01'],
    ['versionPolicy', 'lenient', 'R-13'],
    ['role', 'all', 'ROLE-03'],
    ['skillMetadataKey', 'a2a.skill', 'R-14'],
    ['enforceInputModes', true, 'SEND-18'],
    ['challenge', undefined, 'ISO-02'],
    ['extendedAgentCard', false, 'XC-02'],
    ['interfaceTenant', undefined, 'ISO-09'],
  ] as const)('of %s are %p (%s)', (name, expected, _id) => {
    expect(settingsOf()[name]).toBe(expected);
  });

  it.each([
    ['allowedOrigins', []],
    ['extensions', []],
    ['defaultInputModes', ['text/plain']],
  ] as const)('of %s are %j', (name, expected) => {
    expect(settingsOf()[name]).toEqual(expected);
  });
});

describe('A challenge among the options (ISO-02)', () => {
  it.each(['Bearer realm="Rechnungen – intern"', 'Bearer\n', 'Bearer\r\nX-Evil: 1', '\u0000'])(
    'that no header can carry fails the boot: %j',
    (challenge) => {
      expect(() => settingsOf({ challenge })).toThrow(A2AConfigurationError);
      expect(() => settingsOf({ challenge })).toThrow(/challenge/u);
    },
  );

  it('may hold everything else', () => {
    expect(settingsOf({ challenge: 'Bearer realm="Büro"' }).challenge).toBe('Bearer realm="Büro"');
  });
});

describe('A number among the options (PKG-05)', () => {
  const toDefault = [
    'maxBodyBytes',
    'maxHistory',
    'defaultPageSize',
    'maxPageSize',
    'taskTimeout',
    'storeTimeout',
  ] as const;
  const bounds = [
    'maxTaskBytes',
    'maxConcurrentRunsPerOwner',
    'maxStreamSeatsPerOwner',
    'terminalTaskRetention',
    'pausedTaskRetention',
  ] as const;

  it.each(toDefault.flatMap((name) => [0, -1, -Infinity, NaN].map((value) => [name, value] as const)))(
    'stands for the default: %s = %d',
    (name, value) => {
      expect(settingsOf({ [name]: value })[name]).toBe(settingsOf()[name]);
    },
  );

  it.each(bounds.flatMap((name) => [0, NaN].map((value) => [name, value] as const)))(
    'stands for the default: %s = %d',
    (name, value) => {
      expect(settingsOf({ [name]: value })[name]).toBe(settingsOf()[name]);
    },
  );

  it.each(bounds.flatMap((name) => [-1, -100].map((value) => [name, value] as const)))(
    'lifts the bound: %s = %d (RET-07, CAP-01b)',
    (name, value) => {
      expect(settingsOf({ [name]: value })[name]).toBe(Infinity);
    },
  );

  it.each([...toDefault, ...bounds])('is taken as it is: %s = 7', (name) => {
    expect(settingsOf({ defaultPageSize: 1, [name]: 7 })[name]).toBe(7);
  });

  it.each([
    [{}, 10_000, 15_000],
    [{ drainMs: 0 }, 0, 15_000],
    [{ drainMs: -1 }, 0, 15_000],
    [{ drainMs: 5, timeoutMs: 50 }, 5, 50],
    [{ timeoutMs: 0 }, 10_000, 15_000],
    [{ timeoutMs: -1 }, 10_000, 15_000],
    [{ drainMs: Infinity, timeoutMs: Infinity }, MAX_DELAY, MAX_DELAY],
  ])('of the shutdown %j gives %i ms of drain in %i ms (R-40)', (shutdown, drainMs, shutdownTimeout) => {
    expect(settingsOf({ shutdown })).toMatchObject({ drainMs, shutdownTimeout });
  });

  it.each([
    [{}, 15_000, 10_000],
    [{ keepAliveMs: 0, writeDeadlineMs: -1 }, 15_000, 10_000],
    [{ keepAliveMs: NaN, writeDeadlineMs: NaN }, 15_000, 10_000],
    [{ keepAliveMs: 7, writeDeadlineMs: 8 }, 7, 8],
    [{ keepAliveMs: Infinity, writeDeadlineMs: Infinity }, MAX_DELAY, MAX_DELAY],
  ])(
    'of streaming %j gives a keep-alive of %i ms and a deadline of %i ms (STRM-04a, STRM-05)',
    (streaming, ...expected) => {
      const { keepAlive, writeDeadline } = settingsOf({ streaming });
      expect([keepAlive, writeDeadline]).toEqual(expected);
    },
  );

  it('is no longer than a timer can wait: Infinity must not end a task at once', () => {
    const settings = settingsOf({ taskTimeout: Infinity, storeTimeout: Number.MAX_SAFE_INTEGER });
    expect(settings).toMatchObject({ taskTimeout: MAX_DELAY, storeTimeout: MAX_DELAY });
  });
});

describe('The options', () => {
  it.each([undefined, null])('must say who calls: principal %p (PKG-04d, S-09)', (principal) => {
    const error = refusal({ principal: principal as never });
    expect(error.message).toMatch(/`principal` is missing: every task has an owner\. Pass a function/u);
  });

  it.each([undefined, null, {}, { name: 'x' }, { name: '', description: 'x' }, { name: 'x', description: '' }])(
    'must describe the agent: card %j',
    (card) => {
      expect(refusal({ card: card as never }).message).toMatch(/`card\.name` and `card\.description` are missing/u);
    },
  );

  it('must not default to more than the greatest page (PKG-04e)', () => {
    expect(refusal({ defaultPageSize: 30, maxPageSize: 20 }).message).toBe(
      'defaultPageSize (30) is larger than maxPageSize (20). Lower the one or raise the other.',
    );
    expect(settingsOf({ defaultPageSize: 20, maxPageSize: 20 }).defaultPageSize).toBe(20);
  });

  it.each([
    'a2a',
    '',
    '/',
    'http://x/a2a',
    '/a2a/',
    '//a2a',
    '/a b',
    '/a2a?x',
    '/a2a#x',
    '/:id',
    '/a2a/*',
    '/(a)',
    '/a%20b',
    '/ä',
  ])('must name a path that can be served, which %j is not (PKG-06)', (path) => {
    const error = refusal({}, path);
    expect(error.message).toBe(
      `The path ${JSON.stringify(path)} cannot be served. It must start with "/" and name plain segments, such as "/a2a".`,
    );
  });

  it.each(['/a2a', '/agents/invoices/a2a', '/v1.0/a-2_a~'])('may name the path %j (PKG-06)', (path) => {
    expect(settingsOf({}, path).path).toBe(path);
  });

  it('are copied: changing them later changes nothing (PKG-07a)', () => {
    const allowedOrigins = ['https://a.example'];
    const extensions = [{ uri: 'urn:x', params: { a: 1 } }];
    const settings = settingsOf({ allowedOrigins, extensions });
    allowedOrigins.push('https://evil.example');
    extensions[0]!.params.a = 2;
    expect(settings).toMatchObject({
      allowedOrigins: ['https://a.example'],
      extensions: [{ uri: 'urn:x', params: { a: 1 } }],
    });
  });

  it('are taken over as they are given', () => {
    const settings = settingsOf({
      card: { name: 'a', description: 'b', tenant: 't1', defaultInputModes: ['application/json'] },
      versionPolicy: 'strict',
      challenge: 'Bearer',
      skillMetadataKey: 'x.skill',
      enforceInputModes: false,
      streaming: { closeOnInterrupted: 'never' },
      streamSeatOverflow: 'evict-oldest',
    });
    expect(settings).toMatchObject({
      interfaceTenant: 't1',
      defaultInputModes: ['application/json'],
      versionPolicy: 'strict',
      challenge: 'Bearer',
      skillMetadataKey: 'x.skill',
      enforceInputModes: false,
      closeOnInterrupted: 'never',
      streamSeatOverflow: 'evict-oldest',
    });
    expect(settingsOf({ streaming: false }).streaming).toBe(false);
  });
});

function refusal(options: Partial<A2AOptions>, path?: string): Error {
  const whole = { card: { name: 'a', description: 'b' }, principal: () => null, ...options };
  try {
    resolveOptions(whole, path ?? '/a2a');
  } catch (error) {
    expect(error).toBeInstanceOf(A2AConfigurationError);
    return error as Error;
  }
  throw new Error('The options were not refused.');
}
