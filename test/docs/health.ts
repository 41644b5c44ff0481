import { Controller, Get, Module } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { A2AHealthIndicator } from 'nestjs-a2a/terminus';

@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly agent: A2AHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.agent.isHealthy()]);
  }
}

// With `isGlobal: true` among the extras of A2AModule; else these belong to the module that imports it.
@Module({ imports: [TerminusModule], controllers: [HealthController], providers: [A2AHealthIndicator] })
export class HealthModule {}
