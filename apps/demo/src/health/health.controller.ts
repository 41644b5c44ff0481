import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { A2AHealthIndicator } from 'nestjs-a2a/terminus';

/** Tells a load balancer whether to send requests here. Needs no token, and names nothing that would deserve one. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly agent: A2AHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check(): Promise<HealthCheckResult> {
    return this.health.check([() => this.agent.isHealthy()]);
  }
}
