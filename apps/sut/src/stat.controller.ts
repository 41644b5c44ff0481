import { Controller, Get } from '@nestjs/common';
import { A2AService, type A2AStatistics } from 'nestjs-a2a';

/** Shows black-box tests what goes on inside. */
@Controller('stat')
export class StatController {
  constructor(private readonly agent: A2AService) {}

  @Get()
  stat(): A2AStatistics {
    return this.agent.statistics();
  }
}
