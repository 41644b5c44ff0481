import { Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { A2AExecutionContext, message, Skill, SkillText } from 'nestjs-a2a';

@Injectable()
export class OfficeHoursGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { call, skill } = A2AExecutionContext.create(context);
    return skill.tags.includes('anytime') || call.principal.tenant === 'staff';
  }
}

@Injectable()
@UseGuards(OfficeHoursGuard)
export class GreetingSkills {
  @Skill('greet', { tags: ['anytime'], answers: 'message' })
  greet(@SkillText() name: string) {
    return message(`Good morning, ${name}.`);
  }
}
