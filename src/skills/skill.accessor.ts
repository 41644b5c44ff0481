import { Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { SKILL_METADATA, type SkillMetadata } from './skill.decorator.js';

/** Reads what `@Skill` wrote. */
@Injectable()
export class SkillAccessor {
  constructor(private readonly reflector: Reflector) {}

  /** @returns `undefined` when the method is no skill */
  skillOf(method: (...args: never[]) => unknown): SkillMetadata | undefined {
    return this.reflector.get<SkillMetadata | undefined>(SKILL_METADATA, method);
  }
}
