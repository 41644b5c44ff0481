import { Injectable, Logger } from '@nestjs/common';
import { cloneJson, findA2AError, scrub, type Message } from '#protocol';
import { describeError } from '../context/describe-error.js';
import type { RegisteredSkill } from '../skills/registered-skill.js';
import { SkillRegistry } from '../skills/skill.registry.js';
import { SkillRouter } from '../skills/skill.router.js';

/** The skill for a message, or why there is none, in words for the caller. */
export type Selection = { readonly skill: RegisteredSkill } | { readonly rejection: string };

/** Asks the router, and looks up what it names. Other skills than the one asked for are never named. */
@Injectable()
export class SkillSelector {
  private readonly logger = new Logger(SkillSelector.name);

  constructor(
    private readonly registry: SkillRegistry,
    private readonly router: SkillRouter,
  ) {}

  /** Selects the skill for a message that starts a task. */
  async select(message: Message): Promise<Selection> {
    let id: string | undefined;
    try {
      // The descriptions are frozen; the message is not.
      id = await this.router.route({ message: cloneJson(message), skills: this.registry.descriptions() });
    } catch (error) {
      const told = findA2AError(error);
      if (!told) this.logger.error(`The skill router failed: ${describeError(error)}`);
      return { rejection: told ? scrub(told.message, 1_000) : 'The message could not be routed to a skill.' };
    }
    // Routers of JavaScript hosts may answer with anything.
    return typeof id === 'string' ? this.find(id) : { rejection: 'The message names no skill.' };
  }

  /** Looks up the skill that a task was made for. */
  find(id: string): Selection {
    const skill = this.registry.get(id);
    return skill ? { skill } : { rejection: `There is no skill called "${scrub(id, 64)}".` };
  }
}
