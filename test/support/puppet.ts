import { Injectable } from '@nestjs/common';
import { MemoryTaskStore, Skill, type A2AOptions, type TaskContext, type TaskStore } from 'nestjs-a2a';
import { startAgent, type Agent, type AgentSetup } from './agent.js';
import { newcomer, type Caller } from './caller.js';

/** A skill that does what each test makes it do, and one that answers with Messages. */
@Injectable()
export class PuppetSkills {
  work: (task: TaskContext) => unknown = () => undefined;

  @Skill('puppet', { inputModes: ['*/*'] })
  puppet(task: TaskContext): unknown {
    return this.work(task);
  }

  @Skill('speaker', { answers: 'message' })
  speaker(task: TaskContext): unknown {
    return this.work(task);
  }
}

/** An agent whose skill a test moves. */
export interface Stage {
  readonly agent: Agent;
  readonly puppet: PuppetSkills;
  readonly store: TaskStore;
  /** Makes the skill do something, for a user that no other test has heard of. */
  readonly play: (work: (task: TaskContext) => unknown) => Caller;
}

/** Metadata that asks for the puppet that answers with Messages. */
export const SPEAKER = { message: { metadata: { skill: 'speaker' } } };
/** Metadata that asks for the puppet. */
export const PUPPET = { message: { metadata: { skill: 'puppet' } } };

/** Boots an agent with the puppet skills. */
export async function startStage(
  options: Partial<A2AOptions> = {},
  setup: Omit<AgentSetup, 'options'> = {},
): Promise<Stage> {
  const store = (options.store as TaskStore | undefined) ?? new MemoryTaskStore();
  const router: A2AOptions['router'] = ({ message }) => (message.metadata?.['skill'] as string | undefined) ?? 'puppet';
  const agent = await startAgent({
    ...setup,
    skills: [PuppetSkills, ...(setup.skills ?? [])],
    options: { router, ...options, store },
  });
  const puppet = agent.app.get(PuppetSkills);
  const play: Stage['play'] = (work) => {
    puppet.work = work;
    return newcomer(agent.url);
  };
  return { agent, puppet, store, play };
}
