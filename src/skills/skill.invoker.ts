import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable, type Type } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ContextIdFactory, ModuleRef, ModulesContainer, type ContextId } from '@nestjs/core';
import { ExternalContextCreator } from '@nestjs/core/helpers/external-context-creator.js';
import { isObservable, Observable } from 'rxjs';
import { A2A_CONTEXT_TYPE, executionArguments } from '../context/a2a-execution-context.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { createPipelineCreator } from '../context/pipeline.js';
import type { RegisteredSkill, SkillInvocation } from './registered-skill.js';
import type { FoundSkill } from './skill.explorer.js';

type Method = (...args: unknown[]) => unknown;
type Pipeline = (...args: unknown[]) => Promise<unknown>;

/** The invocation in whose async context a skill method runs. */
const current = new AsyncLocalStorage<SkillInvocation>();

/**
 * Calls `@Skill` methods through Nest's own pipeline.
 *
 * - Guards, interceptors, pipes and filters of the method and its class run as on a route.
 * - The host's global ones do not: they have acted on the HTTP request already.
 * - A provider that is request-scoped or transient, or has enhancers that are, is resolved anew for each run.
 */
@Injectable()
export class SkillInvoker {
  private readonly contexts: ExternalContextCreator;

  constructor(modules: ModulesContainer) {
    this.contexts = createPipelineCreator(modules);
    // Nest waits for an Observable's last value; a skill's Observable streams.
    this.contexts.transformToResult = (result: unknown) => Promise.resolve(result);
  }

  /**
   * Makes a runnable skill of a method.
   *
   * @throws {A2AConfigurationError} when the provider has no instance to call the method on
   */
  bind({ wrapper, methodName, origin }: FoundSkill): RegisteredSkill['invoke'] {
    if (!wrapper.isDependencyTreeStatic() || wrapper.isTransient) {
      return (invocation) => this.invokeScoped({ wrapper, methodName }, invocation);
    }
    const instance: unknown = wrapper.instance;
    if (typeof instance !== 'object' || instance === null) {
      throw new A2AConfigurationError(`${origin}: its provider has no instance. Provide the class itself.`);
    }
    const pipeline = this.pipeline(instance, methodName);
    return (invocation) => run(pipeline, invocation);
  }

  private async invokeScoped(
    { wrapper, methodName }: Pick<FoundSkill, 'wrapper' | 'methodName'>,
    invocation: SkillInvocation,
  ): Promise<unknown> {
    const moduleRef = wrapper.host?.getProviderByKey<ModuleRef>(ModuleRef).instance;
    if (!moduleRef) throw new Error(`The module of ${String(wrapper.name)} is gone.`);
    const contextId = ContextIdFactory.create();
    moduleRef.registerRequestByContextId(invocation.call.httpRequest, contextId);
    return current.run(invocation, async () => {
      const instance = await moduleRef.resolve<object>(wrapper.token as Type, contextId, { strict: true });
      return run(this.pipeline(instance, methodName, contextId, wrapper.id), invocation);
    });
  }

  private pipeline(instance: object, methodName: string, contextId?: ContextId, inquirerId?: string): Pipeline {
    const method = Reflect.get(instance, methodName) as Method;
    const filters = [method, instance.constructor].some((target) =>
      Reflect.hasMetadata(EXCEPTION_FILTERS_METADATA, target),
    );
    return this.contexts.create(
      instance,
      withFallbackArgument(observed(method), instance, methodName),
      methodName,
      ROUTE_ARGS_METADATA,
      // Every parameter decorator of ours is a custom one, which brings its own factory.
      { exchangeKeyForValue: () => undefined },
      contextId,
      inquirerId,
      { guards: true, interceptors: true, filters },
      A2A_CONTEXT_TYPE,
    ) as Pipeline;
  }
}

async function run(pipeline: Pipeline, invocation: SkillInvocation): Promise<unknown> {
  const result = await current.run(invocation, () => pipeline(...executionArguments(invocation)));
  if (!isObservable(result)) return result;
  // Behind an interceptor Nest calls the method only when the Observable is subscribed to.
  return new Observable((subscriber) => current.run(invocation, () => result.subscribe(subscriber)));
}

/** Notes that the pipeline has let the call through, and whether the skill gave an Observable. */
function observed(method: Method): Method {
  const observing = function (this: unknown, ...args: unknown[]): unknown {
    const invocation = current.getStore();
    if (invocation) invocation.entered = true;
    const result = method.apply(this, args);
    if (invocation && isObservable(result)) invocation.streamed = true;
    return result;
  };
  return sameMetadata(observing, method);
}

/** Gives a method without decorated parameters the task context, where Nest would give it the raw arguments. */
function withFallbackArgument(method: Method, instance: object, methodName: string): Method {
  if (Reflect.hasMetadata(ROUTE_ARGS_METADATA, instance.constructor, methodName)) return method;
  const adapted = function (this: unknown): unknown {
    return method.call(this, current.getStore()?.task);
  };
  return sameMetadata(adapted, method);
}

/** Guards and the rest are found, and reflect, by the metadata of the function that Nest is given. */
function sameMetadata(target: Method, source: Method): Method {
  for (const key of Reflect.getMetadataKeys(source) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, source), target);
  }
  return Object.defineProperty(target, 'name', { value: source.name });
}
