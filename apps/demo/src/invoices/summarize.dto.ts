import { IsOptional, IsString, Matches } from 'class-validator';

const DATE = /^\d{4}-\d{2}-\d{2}$/u;

/** The period that is asked for, both days included. */
export class SummarizeDto {
  @Matches(DATE, { message: 'must be a date such as 2026-01-31' })
  from!: string;

  @Matches(DATE, { message: 'must be a date such as 2026-01-31' })
  to!: string;

  @IsOptional()
  @IsString()
  customer?: string;
}
