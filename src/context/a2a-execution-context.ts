import type { ExecutionContext } from '@nestjs/common';
import type { CallContext } from './call-context.js';
import type { SkillDescription } from './skill-description.js';
import type { TaskContext } from './task-context.js';

/** The type of execution context under which the enhancers of skill methods run. */
export const A2A_CONTEXT_TYPE = 'a2a';

/** What guards, interceptors, pipes and filters of a skill method may look at, beside the HTTP request. */
export interface A2AExecution {
  readonly call: CallContext;
  readonly task: TaskContext;
  readonly skill: SkillDescription;
}

/** The place of the {@link A2AExecution} among the arguments of a skill's execution context. */
const EXECUTION_ARGUMENT = 3;

/** The arguments of a skill's execution context: those of an HTTP route, then ours. */
export function executionArguments(execution: A2AExecution): unknown[] {
  return [execution.call.httpRequest, execution.call.httpResponse, () => undefined, execution];
}

/**
 * Reads call, task and skill from an execution context, as `GqlExecutionContext` does for GraphQL.
 *
 * @example
 * canActivate(context: ExecutionContext) {
 *   const { call, skill } = A2AExecutionContext.create(context);
 *   return skill.tags.includes('public') || call.principal.scopes === null;
 * }
 */
export const A2AExecutionContext = {
  /** @throws {TypeError} when the context is not that of a skill */
  create(context: ExecutionContext): A2AExecution {
    if (context.getType<string>() !== A2A_CONTEXT_TYPE) {
      throw new TypeError(`This is an execution context of type "${context.getType<string>()}", not of a skill.`);
    }
    return context.getArgByIndex<A2AExecution>(EXECUTION_ARGUMENT);
  },
};
