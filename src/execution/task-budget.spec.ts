import { describe, expect, it } from '@jest/globals';
import { sizeOf, TaskBudget } from './task-budget.js';

describe('A task budget', () => {
  it('lets in what fits, to the last unit (R-35)', () => {
    const budget = new TaskBudget(10, () => 4);
    expect(budget.fits(6)).toBe(true);
    expect(budget.fits(7)).toBe(false);
  });

  it('adds up what is spent', () => {
    let real = 0;
    const budget = new TaskBudget(10, () => real);
    budget.spend((real = 8));
    expect(budget.fits(2)).toBe(true);
    expect(budget.fits(3)).toBe(false);
  });

  it('measures anew before it refuses: what was replaced takes no room (R-35)', () => {
    let measured = 0;
    const budget = new TaskBudget(10, () => {
      measured++;
      return 1;
    });
    budget.spend(9);
    expect(budget.fits(9)).toBe(true);
    expect(budget.fits(9)).toBe(true);
    expect(measured).toBe(2);
  });

  it('has no bound when the bound is infinite', () => {
    const budget = new TaskBudget(Infinity, () => Number.MAX_SAFE_INTEGER);
    expect(budget.fits(Number.MAX_SAFE_INTEGER)).toBe(true);
  });

  it('takes the length of JSON text for the size', () => {
    expect(sizeOf({ a: 'b' })).toBe('{"a":"b"}'.length);
  });
});
