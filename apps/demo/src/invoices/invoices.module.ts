import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuthModule } from '../auth/auth.module.js';
import { InvoiceController } from './invoice.controller.js';
import { Invoice } from './invoice.entity.js';
import { InvoiceService } from './invoice.service.js';
import { InvoiceSkills } from './invoice.skills.js';

@Module({
  imports: [TypeOrmModule.forFeature([Invoice]), AuthModule],
  controllers: [InvoiceController],
  providers: [InvoiceService, InvoiceSkills],
})
export class InvoicesModule {}
