import { Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { SkillAccessor } from './skill.accessor.js';
import type { SkillMetadata } from './skill.decorator.js';

type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** A `@Skill` method on a provider. */
export interface FoundSkill {
  readonly wrapper: InstanceWrapper;
  readonly methodName: string;
  readonly metadata: SkillMetadata;
  /** `InvoiceSkills.summarize`. */
  readonly origin: string;
}

/** Finds the `@Skill` methods of the application's providers. */
@Injectable()
export class SkillExplorer {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly accessor: SkillAccessor,
  ) {}

  /** @throws {A2AConfigurationError} for a `@Skill` on a controller, or on something that is no method */
  explore(): FoundSkill[] {
    const onController = this.discovery.getControllers().flatMap((wrapper) => this.skillsOf(wrapper))[0];
    if (onController) {
      throw new A2AConfigurationError(
        `${onController.origin}: @Skill belongs on a provider, not on a controller. Move the method to a service.`,
      );
    }
    // An alias (useExisting) shows the same methods a second time.
    const providers = this.discovery.getProviders().filter((wrapper) => !wrapper.isAlias);
    return providers.flatMap((wrapper) => this.skillsOf(wrapper));
  }

  private skillsOf(wrapper: InstanceWrapper): FoundSkill[] {
    const prototype = prototypeOf(wrapper);
    if (!prototype) return [];
    return this.scanner.getAllMethodNames(prototype).flatMap((methodName) => {
      const method = methodOf(prototype, methodName);
      const metadata = method && this.accessor.skillOf(method);
      return metadata ? [{ wrapper, methodName, metadata, origin: `${wrapper.name}.${methodName}` }] : [];
    });
  }
}

/** Request-scoped providers have no instance to look at, and `useFactory` providers no class. */
function prototypeOf({ instance, metatype }: InstanceWrapper): object | undefined {
  const provided: unknown = instance;
  const fromInstance = typeof provided === 'object' && provided !== null ? protoOf(provided) : null;
  const fromClass: unknown = typeof metatype === 'function' ? metatype.prototype : undefined;
  const prototype = fromInstance ?? fromClass;
  return typeof prototype === 'object' && prototype !== null && prototype !== Object.prototype ? prototype : undefined;
}

function protoOf(value: object): object | null {
  return Object.getPrototypeOf(value) as object | null;
}

function methodOf(prototype: object, name: string): ((...args: never[]) => unknown) | undefined {
  const method: unknown = Reflect.get(prototype, name);
  return typeof method === 'function' ? (method as (...args: never[]) => unknown) : undefined;
}
