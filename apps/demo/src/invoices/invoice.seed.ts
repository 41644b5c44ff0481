import type { Invoice } from './invoice.entity.js';

/** What the application starts with. */
export const SEED: readonly Invoice[] = [
  invoice('A-1001', 'alice', 'Globex', '2026-01-12', 129_900, true),
  invoice('A-1002', 'alice', 'Initech', '2026-01-30', 48_050, true),
  invoice('A-1003', 'alice', 'Globex', '2026-02-09', 76_000, false),
  invoice('A-1004', 'alice', 'Umbrella', '2026-03-02', 210_000, true),
  invoice('A-1005', 'alice', 'Globex', '2026-03-18', 33_575, false),
  invoice('A-1006', 'alice', 'Initech', '2026-04-07', 92_400, false),
  invoice('B-2001', 'bob', 'Hooli', '2026-01-20', 55_000, true),
  invoice('B-2002', 'bob', 'Globex', '2026-02-25', 18_990, false),
  invoice('B-2003', 'bob', 'Hooli', '2026-03-31', 71_250, false),
];

function invoice(
  number: string,
  owner: string,
  customer: string,
  issuedOn: string,
  amount: number,
  isPaid: boolean,
): Invoice {
  const dueOn = new Date(Date.parse(issuedOn) + 30 * 24 * 60 * 60 * 1_000).toISOString().slice(0, 10);
  return { number, owner, customer, issuedOn, dueOn, amount, isPaid };
}
