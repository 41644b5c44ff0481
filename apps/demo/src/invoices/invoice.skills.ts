import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Skill, SkillCaller, SkillInput, SkillTask, SkillText, TaskContext, type Principal } from 'nestjs-a2a';
import { DraftReminderDto } from './draft-reminder.dto.js';
import type { Invoice } from './invoice.entity.js';
import { InvoiceService, type InvoiceSummary } from './invoice.service.js';
import { SummarizeDto } from './summarize.dto.js';

/** What other agents can ask of the invoices: methods of an ordinary provider. */
@Injectable()
export class InvoiceSkills {
  constructor(private readonly invoices: InvoiceService) {}

  /** The returned value becomes an artifact with a data part, and the task COMPLETED. */
  @Skill('summarize-invoices', {
    name: 'Summarize invoices',
    description: 'Counts and adds up the invoices of a period, of all customers or one.',
    tags: ['invoices', 'report'],
    examples: ['{"skill":"summarize-invoices","from":"2026-01-01","to":"2026-03-31","customer":"Globex"}'],
    inputModes: ['application/json'],
    outputModes: ['application/json'],
    scopes: ['invoices:read'],
  })
  summarize(@SkillInput() input: SummarizeDto, @SkillCaller() { owner }: Principal): Promise<InvoiceSummary> {
    return this.invoices.summarize(owner, input);
  }

  /** Asks until one invoice is left. The caller's answer runs the same method again, on the same task. */
  @Skill('draft-reminder', {
    name: 'Draft a reminder',
    description: 'Drafts a letter that reminds a customer of an open invoice.',
    tags: ['invoices', 'letters'],
    examples: ['Globex', 'A-1003'],
    inputModes: ['text/plain', 'application/json'],
    scopes: ['invoices:write'],
  })
  async draftReminder(
    @SkillInput() { customer }: DraftReminderDto,
    @SkillText() text: string,
    @SkillTask() task: TaskContext,
  ): Promise<string | undefined> {
    const wanted = customer ?? text.trim();
    const [invoice, ...others] = await this.invoices.findOpen(task.owner, wanted);
    if (invoice && others.length === 0) return letter(invoice);

    await task.requireInput(
      invoice
        ? `Which invoice? ${[invoice, ...others].map((each) => `${each.number} (${euros(each.amount)})`).join(', ')}`
        : `No open invoice fits "${wanted}". Name a customer, or the number of an invoice.`,
    );
    return undefined;
  }

  /** What a generator yields is a chunk of one artifact. A cancel ends it at the next `yield`. */
  @Skill('export-invoices', {
    name: 'Export invoices',
    description: 'Exports all invoices as CSV, line by line.',
    tags: ['invoices', 'export'],
    examples: ['{"skill":"export-invoices"}'],
    inputModes: ['text/plain', 'application/json'],
    scopes: ['invoices:read'],
  })
  async *export(@SkillTask() { owner, signal }: TaskContext): AsyncGenerator<string> {
    yield 'number,customer,issued,due,cents,paid\n';
    for (const { number, customer, issuedOn, dueOn, amount, isPaid } of await this.invoices.list(owner)) {
      // Slow on purpose, so that there is time to watch and to cancel.
      await sleep(500, undefined, { signal });
      yield `${number},${csv(customer)},${issuedOn},${dueOn},${amount},${isPaid}\n`;
    }
  }
}

function letter({ number, customer, issuedOn, dueOn, amount }: Invoice): string {
  return [
    `Dear ${customer} team,`,
    `our invoice ${number} of ${issuedOn} over ${euros(amount)} was due on ${dueOn}.`,
    'We would be glad to receive it soon. If it is on its way, please ignore this letter.',
  ].join('\n\n');
}

function euros(cents: number): string {
  return `€${(cents / 100).toFixed(2)}`;
}

function csv(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
