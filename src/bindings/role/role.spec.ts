import { describe, expect, it } from '@jest/globals';
import { A2AConfigurationError } from '../../context/configuration.error.js';
import { resolveHealthPaths, resolveRole } from './role.js';

describe('The role', () => {
  it.each([
    [undefined, {}, 'all'],
    [undefined, { A2A_ROLE: undefined }, 'all'],
    [undefined, { A2A_ROLE: 'agent' }, 'agent'],
    [undefined, { A2A_ROLE: ' Agent\n' }, 'agent'],
    [undefined, { A2A_ROLE: 'ALL' }, 'all'],
    ['agent', {}, 'agent'],
    ['AGENT', { A2A_ROLE: 'all' }, 'agent'],
    ['all', { A2A_ROLE: 'agent' }, 'all'],
    ['agent', { A2A_ROLE: 'nonsense' }, 'agent'],
  ] as const)('of the option %p in %j is %s (ROLE-03)', (option, environment, role) => {
    expect(resolveRole(option, environment)).toBe(role);
  });

  it.each(['agents', 'agent,all', '', ' ', 'constructor', 'аgent'])('is not %j (ROLE-03)', (name) => {
    expect(() => resolveRole(name, {})).toThrow(A2AConfigurationError);
    expect(() => resolveRole(undefined, { A2A_ROLE: name })).toThrow(
      /A2A_ROLE is .*Use "all" or "agent", or unset it/u,
    );
  });
});

describe('The health paths', () => {
  it('are those of people and of probes when nothing is said (ROLE-01b)', () => {
    expect(resolveHealthPaths()).toEqual(['/health', '/health/live', '/health/ready']);
  });

  it('are what is said, or none (ROLE-01b)', () => {
    expect(resolveHealthPaths(['/api/health', '/livez', '/v1.2/..x'])).toEqual(['/api/health', '/livez', '/v1.2/..x']);
    expect(resolveHealthPaths([])).toEqual([]);
  });

  it.each([
    '',
    '/',
    'health',
    '/health/',
    '//health',
    '/health/..',
    '/./health',
    '/health?x',
    '/health/*',
    '/a b',
    '/%68',
  ])('cannot be %j (ROLE-01b)', (path) => {
    expect(() => resolveHealthPaths([path])).toThrow(A2AConfigurationError);
  });
});
