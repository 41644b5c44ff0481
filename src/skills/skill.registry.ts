import { Injectable } from '@nestjs/common';
import type { SkillDescription } from '../context/skill-description.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { freezeDeep } from './freeze-deep.js';
import type { RegisteredSkill } from './registered-skill.js';

/**
 * Holds the skills of the application, explicit ones first, then those found on providers.
 *
 * - Filled once at boot; what it hands out cannot be changed.
 */
@Injectable()
export class SkillRegistry {
  private readonly skills = new Map<string, RegisteredSkill>();
  private all: readonly SkillDescription[] = [];

  /**
   * @throws {A2AConfigurationError} for an id that is empty, too long or taken
   */
  add({ description, origin, invoke }: RegisteredSkill): void {
    const { id } = description;
    if (typeof id !== 'string' || id.trim() === '' || id.length > 256) {
      throw new A2AConfigurationError(`${origin}: a skill's id has 1 to 256 characters. Give this one such an id.`);
    }
    const taken = this.skills.get(id);
    if (taken) {
      throw new A2AConfigurationError(
        `Two skills are called "${id}": ${taken.origin} and ${origin}. Give one of them another id.`,
      );
    }
    this.skills.set(id, { description: freezeDeep(description), origin, invoke });
    this.all = Object.freeze([...this.all, description]);
  }

  get(id: string): RegisteredSkill | undefined {
    return this.skills.get(id);
  }

  /** The descriptions of all skills, in the order of registration. */
  descriptions(): readonly SkillDescription[] {
    return this.all;
  }
}
