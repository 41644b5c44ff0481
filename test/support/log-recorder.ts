import type { LoggerService } from '@nestjs/common';

/** Keeps what is logged. */
export class LogRecorder implements LoggerService {
  readonly lines: { readonly level: string; readonly text: string }[] = [];

  /** The lines of one level. */
  of(level: string): string[] {
    return this.lines.filter((line) => line.level === level).map(({ text }) => text);
  }

  log(...parts: unknown[]): void {
    this.note('log', parts);
  }

  error(...parts: unknown[]): void {
    this.note('error', parts);
  }

  warn(...parts: unknown[]): void {
    this.note('warn', parts);
  }

  private note(level: string, parts: unknown[]): void {
    this.lines.push({ level, text: parts.map(String).join(' ') });
  }
}
