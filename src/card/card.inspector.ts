import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { encode, type AgentCard } from '#protocol';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { describeError } from '../context/describe-error.js';
import { CapabilitySource } from './capability.source.js';
import { CardBuilder } from './card.builder.js';
import { A2A_CARD_OPTIONS, type CardOptions } from './card.options.js';
import { CardSeal } from './card.seal.js';
import { A2A_MOUNTED_BINDINGS, type MountedBinding } from './mounted-binding.js';

/** Looks at boot at what the card will say. */
@Injectable()
export class CardInspector implements OnApplicationBootstrap {
  private readonly logger = new Logger(CardInspector.name);

  constructor(
    @Inject(A2A_CARD_OPTIONS) private readonly options: CardOptions,
    @Inject(A2A_MOUNTED_BINDINGS) private readonly bindings: readonly MountedBinding[],
    private readonly builder: CardBuilder,
    private readonly capabilities: CapabilitySource,
    private readonly seal: CardSeal,
  ) {}

  /** @throws {A2AConfigurationError} when the options make no card of the protocol, or none that can be signed */
  async onApplicationBootstrap(): Promise<void> {
    await this.assertWritable(this.builder.build('http://localhost', this.capabilities.capabilities()));
    this.warnOfOtherPaths();
  }

  private async assertWritable(card: AgentCard): Promise<void> {
    try {
      encode('AgentCard', (await this.seal.seal(card, { url: 'http://localhost', isPinned: true })).card);
    } catch (error) {
      throw new A2AConfigurationError(
        `The options make a card that cannot be served: ${describeError(error)}. Correct \`card\` or the skill.`,
      );
    }
  }

  private warnOfOtherPaths(): void {
    const { interfaces } = this.options;
    const mounted = this.bindings.map((binding) => binding.urlAt(''));
    if (!interfaces || interfaces.some(({ url }) => mounted.some((path) => endsWith(url, path)))) return;
    this.logger.warn(
      `None of the interfaces on the card ends with ${mounted.join(' or ')}, where the agent is mounted. Make sure that a proxy leads ${interfaces.map(({ url }) => url).join(', ')} there.`,
    );
  }
}

function endsWith(url: string, path: string): boolean {
  return new URL(url).pathname.replace(/\/+$/u, '').endsWith(path);
}
