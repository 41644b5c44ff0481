import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { JwtAuthGuard } from '../auth/jwt-auth.guard.js';
import type { AuthenticatedRequest } from '../auth/user.js';
import type { Invoice } from './invoice.entity.js';
import { InvoiceService } from './invoice.service.js';

/** The same invoices for people, behind the same guard. */
@Controller('invoices')
@UseGuards(JwtAuthGuard)
export class InvoiceController {
  constructor(private readonly invoices: InvoiceService) {}

  @Get()
  list(@Req() { user }: AuthenticatedRequest): Promise<Invoice[]> {
    return this.invoices.list(user?.sub ?? '');
  }
}
