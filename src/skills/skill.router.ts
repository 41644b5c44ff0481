import { Injectable } from '@nestjs/common';
import type { JsonValue, Message } from '#protocol';
import type { SkillDescription } from '../context/skill-description.js';

/** What a router may look at. Changing it changes nothing. */
export interface RoutingRequest {
  readonly message: Message;
  readonly skills: readonly SkillDescription[];
}

/**
 * Picks the skill for a message that starts a task. The port that a router of one's own implements.
 *
 * Only an `A2AError` that it throws is told to the caller, as the reason of the rejection.
 */
export abstract class SkillRouter {
  /** @returns the id of the skill, or `undefined` when the message is for none */
  abstract route(request: RoutingRequest): string | undefined | Promise<string | undefined>;
}

/**
 * Routes by name and never by prose: `message.metadata.skill`, else the `skill` of the first data part that has one,
 * else the only skill there is.
 */
@Injectable()
export class NamedSkillRouter extends SkillRouter {
  route({ message, skills }: RoutingRequest): string | undefined {
    return (
      skillName(message.metadata?.['skill']) ??
      message.parts.map((part) => ('data' in part ? skillName(skillOf(part.data)) : undefined)).find(Boolean) ??
      (skills.length === 1 ? skills[0]?.id : undefined)
    );
  }
}

function skillOf(data: JsonValue): JsonValue | undefined {
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
  return isObject && Object.hasOwn(data, 'skill') ? data['skill'] : undefined;
}

function skillName(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
