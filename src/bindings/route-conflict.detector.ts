import { Injectable, RequestMethod, VERSION_NEUTRAL, type OnApplicationBootstrap } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ApplicationConfig, DiscoveryService, MetadataScanner } from '@nestjs/core';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { EndpointPath } from './body/endpoint-path.js';

/** Finds out at boot when a controller of the host is mounted where the endpoint is. */
@Injectable()
export class RouteConflictDetector implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly config: ApplicationConfig,
    private readonly endpoint: EndpointPath,
  ) {}

  /** @throws {A2AConfigurationError} naming the other route */
  onApplicationBootstrap(): void {
    const taken = this.hostRoutes().find(({ paths }) => paths.some((path) => sameRoute(path, this.endpoint.value)));
    if (!taken) return;
    throw new A2AConfigurationError(
      `${taken.origin} is mounted at ${this.endpoint.value}, where the A2A endpoint is. Give one of them another path.`,
    );
  }

  private hostRoutes(): { origin: string; paths: string[] }[] {
    return this.discovery
      .getControllers()
      .filter(({ metatype }) => metatype !== null && metatype.name !== 'JsonRpcController')
      .flatMap(({ metatype }) => {
        const controller = metatype as unknown as new () => object;
        const ctrlPaths = listOf(Reflect.getMetadata(PATH_METADATA, controller));
        return this.scanner.getAllMethodNames(controller.prototype as object).flatMap((name) => {
          const method = (controller.prototype as Record<string, object>)[name];
          const verb: unknown = method && Reflect.getMetadata(METHOD_METADATA, method);
          if (!method || (verb !== RequestMethod.POST && verb !== RequestMethod.ALL)) return [];
          const methodPaths = listOf(Reflect.getMetadata(PATH_METADATA, method));
          return [{ origin: `${controller.name}.${name}`, paths: this.fullPaths(ctrlPaths, methodPaths, verb) }];
        });
      });
  }

  private fullPaths(ctrlPaths: string[], methodPaths: string[], verb: RequestMethod): string[] {
    const versioningOptions = this.config.getVersioning();
    const factory = new RoutePathFactory(this.config);
    return ctrlPaths.flatMap((ctrlPath) =>
      methodPaths.flatMap((methodPath) =>
        factory.create(
          {
            ctrlPath,
            methodPath,
            globalPrefix: this.config.getGlobalPrefix(),
            controllerVersion: VERSION_NEUTRAL,
            ...(versioningOptions && { versioningOptions }),
          },
          verb,
        ),
      ),
    );
  }
}

function listOf(path: unknown): string[] {
  return (Array.isArray(path) ? path : [path ?? '']).map(String);
}

function sameRoute(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
