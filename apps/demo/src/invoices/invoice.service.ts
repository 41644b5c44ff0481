import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Between, Raw, Repository } from 'typeorm';
import { Invoice } from './invoice.entity.js';
import { SEED } from './invoice.seed.js';

/** Which invoices are asked for. */
export interface InvoiceFilter {
  /** `YYYY-MM-DD`, inclusive like `to`. */
  readonly from: string;
  readonly to: string;
  readonly customer?: string;
}

/** What invoices come to. Amounts are cents. */
export interface InvoiceSummary {
  readonly count: number;
  readonly total: number;
  readonly open: number;
}

/** The invoices, always those of one owner. Knows nothing of agents. */
@Injectable()
export class InvoiceService implements OnApplicationBootstrap {
  constructor(@InjectRepository(Invoice) private readonly invoices: Repository<Invoice>) {}

  async onApplicationBootstrap(): Promise<void> {
    if ((await this.invoices.count()) === 0) await this.invoices.insert([...SEED]);
  }

  list(owner: string): Promise<Invoice[]> {
    return this.invoices.find({ where: { owner }, order: { number: 'ASC' } });
  }

  async summarize(owner: string, { from, to, customer }: InvoiceFilter): Promise<InvoiceSummary> {
    const found = await this.invoices.findBy({
      owner,
      issuedOn: Between(from, to),
      ...(customer !== undefined && { customer: ignoringCase(customer) }),
    });
    return { count: found.length, total: sum(found), open: sum(found.filter(({ isPaid }) => !isPaid)) };
  }

  /** The open invoices of a customer, or the one with that number. */
  findOpen(owner: string, customerOrNumber: string): Promise<Invoice[]> {
    const open = { owner, isPaid: false };
    return this.invoices.find({
      where: [
        { ...open, customer: ignoringCase(customerOrNumber) },
        { ...open, number: ignoringCase(customerOrNumber) },
      ],
      order: { number: 'ASC' },
    });
  }
}

const ignoringCase = (value: string) => Raw((column) => `LOWER(${column}) = LOWER(:value)`, { value });

function sum(invoices: readonly Invoice[]): number {
  return invoices.reduce((total, { amount }) => total + amount, 0);
}
