import { IsOptional, IsString } from 'class-validator';

/** Whom to remind; the text of the message may say it instead. */
export class DraftReminderDto {
  /** A customer's name or an invoice's number. */
  @IsOptional()
  @IsString()
  customer?: string;
}
