import { Injectable, Module } from '@nestjs/common';
import { A2AModule, Skill, SkillInput, SkillTask, SkillText, TaskContext, textPart } from 'nestjs-a2a';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { AuthGuard, AuthModule, type AuthenticatedRequest } from './auth.js';
import { InvoiceService, InvoicesModule } from './invoices.js';

class SummarizeInput {
  @IsInt() @Min(2000) @Max(2100) year!: number;
  @IsOptional() @IsInt() @Min(1) @Max(12) month?: number;
}

@Injectable()
export class InvoiceSkills {
  constructor(private readonly invoices: InvoiceService) {}

  // 2. Annotate methods of your services. What they return is the task's artifact.
  @Skill('summarize', {
    description: 'Summarizes the invoices of a period.',
    tags: ['invoices'],
    scopes: ['invoices:read'],
  })
  async summarize(@SkillInput() input: SummarizeInput, @SkillTask() task: TaskContext) {
    await task.working(textPart('Reading invoices'));
    return this.invoices.summary(task.owner, input.year, input.month);
  }

  @Skill('remind', { description: 'Drafts a reminder letter, line by line.', tags: ['letters'] })
  async *remind(@SkillText() customer: string) {
    yield `Dear ${customer},\n`;
    yield 'our invoice is still open.\n';
  }
}

@Module({
  imports: [
    InvoicesModule,
    // 1. Import the module.
    A2AModule.forRoot({
      card: { name: 'Invoices', description: 'Answers questions about invoices.', url: 'https://invoices.example.com' },
      // 3. Protect it with the guards you have, and say whom they let in.
      guards: [AuthGuard],
      imports: [AuthModule],
      principal: ({ user }: AuthenticatedRequest) => ({ owner: user?.id, scopes: user?.scopes ?? [] }),
    }),
  ],
  providers: [InvoiceSkills],
})
export class AppModule {}
