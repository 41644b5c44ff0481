import { Injectable, Module } from '@nestjs/common';

/** Stands for a service of a real application. */
@Injectable()
export class InvoiceService {
  summary(owner: string, year: number, month?: number) {
    return { owner, period: month === undefined ? String(year) : `${year}-${month}`, count: 2, total: 120.5 };
  }
}

@Module({ providers: [InvoiceService], exports: [InvoiceService] })
export class InvoicesModule {}
