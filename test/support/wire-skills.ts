import { Injectable } from '@nestjs/common';
import { message, Skill, SkillMessage, SkillTask, SkillText, type Message, type TaskContext } from 'nestjs-a2a';

/** What must never reach a caller. */
export const SECRET = 'SECRET-STACK-db://user:pw@host';

/** One skill, which every message is for: it gives the text back. */
@Injectable()
export class EchoSkill {
  @Skill('echo')
  echo(@SkillText() text: string): string {
    return text;
  }
}

/** Skills that each end in another way; a message names its own in `metadata.skill`. */
@Injectable()
export class WireSkills extends EchoSkill {
  /** Gives the content of the first part back, whatever it is. */
  @Skill('parrot', { inputModes: ['*/*'] })
  parrot(@SkillMessage() { parts }: Message) {
    return parts[0];
  }

  @Skill('nothing')
  nothing(): void {}

  @Skill('greet', { answers: 'message' })
  greet() {
    return message('Good morning.');
  }

  @Skill('ask')
  async ask(@SkillTask() task: TaskContext): Promise<void> {
    await task.requireInput('Which one?');
  }

  @Skill('throwfirst')
  throwFirst(): void {
    throw new Error(SECRET, { cause: new Error(SECRET) });
  }

  @Skill('throw')
  async throwLater(@SkillTask() task: TaskContext): Promise<void> {
    await task.working();
    throw new Error(SECRET);
  }
}
