import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isVisible, scopeKey, tierOf, UNNARROWED, type Tier } from './tier.js';

describe('The key of a scope set', () => {
  it('heeds neither order nor repetition (ISO-04a)', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (scopes) => {
        const twice = [...scopes, ...scopes].reverse();
        expect(scopeKey(twice)).toBe(scopeKey(scopes));
      }),
    );
  });

  it('tells different sets apart, whatever the scopes are called (ISO-04a)', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.uniqueArray(fc.string()), (a, b) => {
        const areEqual = a.length === b.length && a.every((scope) => b.includes(scope));
        expect(scopeKey(a) === scopeKey(b)).toBe(areEqual);
      }),
    );
    expect(scopeKey(['a","b'])).not.toBe(scopeKey(['a', 'b']));
    expect(scopeKey(['a b'])).not.toBe(scopeKey(['a', 'b']));
  });

  it('of an unnarrowed session is that of no set, and not that of the empty one (ISO-04c, R-32)', () => {
    expect(scopeKey(null)).toBe(UNNARROWED);
    expect(scopeKey([])).toBe('[]');
    expect(scopeKey([UNNARROWED])).not.toBe(UNNARROWED);
  });

  it('leaves the caller’s list as it is', () => {
    const scopes = Object.freeze(['b', 'a']);
    expect(scopeKey(scopes)).toBe('["a","b"]');
  });
});

describe('A tier', () => {
  it('is made of owner, tenant and scope set (RET-01a)', () => {
    expect(tierOf({ owner: 'o', tenant: 't', scopes: ['b', 'a', 'b'] })).toEqual({
      owner: 'o',
      tenant: 't',
      scope: '["a","b"]',
    });
  });

  const tier = (fields: Partial<Tier>): Tier => ({ owner: 'o', tenant: '', scope: UNNARROWED, ...fields });

  it.each([
    ['the same tier', tier({}), tier({}), true, 'ISO-03'],
    ['another owner', tier({ owner: 'p' }), tier({}), false, 'ISO-03'],
    ['a tenant, to a caller in none', tier({ tenant: 't' }), tier({}), false, 'ISO-06b'],
    ['no tenant, to a caller in one', tier({}), tier({ tenant: 't' }), false, 'ISO-06b'],
    ['another tenant', tier({ tenant: 't' }), tier({ tenant: 'u' }), false, 'ISO-06a'],
    ['a narrowed tier, to a session', tier({ scope: '["a"]' }), tier({}), true, 'ISO-04b'],
    ['the empty set, to a session', tier({ scope: '[]' }), tier({}), true, 'ISO-04b'],
    ['a session, to a narrowed caller', tier({}), tier({ scope: '["a"]' }), false, 'ISO-05'],
    ['a session, to the empty set', tier({}), tier({ scope: '[]' }), false, 'ISO-05'],
    ['the same set', tier({ scope: '["a"]' }), tier({ scope: '["a"]' }), true, 'ISO-04a'],
    ['a smaller set, to a larger one', tier({ scope: '["a"]' }), tier({ scope: '["a","b"]' }), false, 'ISO-04a'],
    ['a larger set, to a smaller one', tier({ scope: '["a","b"]' }), tier({ scope: '["a"]' }), false, 'ISO-04a'],
    ['another owner’s, to a session', tier({ owner: 'p', scope: '["a"]' }), tier({}), false, 'ISO-03'],
  ])('of %s is shown as it should be (%#)', (_name, task, caller, expected, _id) => {
    expect(isVisible(task, caller)).toBe(expected);
  });
});
