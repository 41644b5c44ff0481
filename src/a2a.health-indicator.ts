import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { A2AService } from './a2a.service.js';

/**
 * Tells `@nestjs/terminus` how the agent of this process is.
 *
 * A provider of a module that sees `A2AService`: one that imports the `A2AModule`, or any module when that is global.
 *
 * @example
 * @Get('health')
 * @HealthCheck()
 * check() {
 *   return this.health.check([() => this.agent.isHealthy()]);
 * }
 */
@Injectable()
export class A2AHealthIndicator {
  constructor(
    private readonly agent: A2AService,
    private readonly indicators: HealthIndicatorService,
  ) {}

  /**
   * Is `down` when the store does not answer and while the process shuts down. Names no host and no error. Never rejects.
   *
   * @param key under which the result stands
   */
  async isHealthy<const Key extends string = 'a2a'>(key = 'a2a' as Key): Promise<HealthIndicatorResult<Key>> {
    const { isHealthy, ...details } = await this.agent.health();
    const indicator = this.indicators.check(key);
    return isHealthy ? indicator.up(details) : indicator.down(details);
  }
}
