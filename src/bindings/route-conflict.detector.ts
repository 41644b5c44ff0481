import { Inject, Injectable, RequestMethod, type OnApplicationBootstrap } from '@nestjs/common';
import { METHOD_METADATA, MODULE_PATH, PATH_METADATA, VERSION_METADATA } from '@nestjs/common/constants.js';
import { ApplicationConfig, DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { RoutePathMetadata } from '@nestjs/core/router/interfaces/route-path-metadata.interface.js';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { EndpointPath } from './body/endpoint-path.js';
import { A2A_WELL_KNOWN_DOCUMENTS, type WellKnownDocument } from './well-known/well-known-document.js';

type VersionValue = NonNullable<RoutePathMetadata['controllerVersion']>;

/** Finds out at boot when a controller of the host is mounted where the endpoint or a well-known document is. */
@Injectable()
export class RouteConflictDetector implements OnApplicationBootstrap {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly config: ApplicationConfig,
    private readonly modules: ModulesContainer,
    private readonly endpoint: EndpointPath,
    @Inject(A2A_WELL_KNOWN_DOCUMENTS) private readonly documents: readonly WellKnownDocument[],
  ) {}

  /** @throws {A2AConfigurationError} naming the other route */
  onApplicationBootstrap(): void {
    this.assertFree(RequestMethod.POST, this.endpoint.value, 'the A2A endpoint is. Give one of them another path.');
    for (const path of this.documents.flatMap((document) => document.paths())) {
      const cure = 'a document of the agent is. Move that route, or leave out the option that makes the document.';
      this.assertFree(RequestMethod.GET, path, cure);
    }
  }

  private assertFree(verb: RequestMethod, path: string, cure: string): void {
    const taken = this.hostRoutes(verb).find(({ paths }) => paths.some((other) => sameRoute(other, path)));
    if (taken) throw new A2AConfigurationError(`${taken.origin} is mounted at ${path}, where ${cure}`);
  }

  private hostRoutes(wanted: RequestMethod): { origin: string; paths: string[] }[] {
    return this.discovery
      .getControllers()
      .filter(({ metatype }) => metatype !== null && metatype.name !== 'JsonRpcController')
      .flatMap(({ metatype, host }) => {
        const controller = metatype as unknown as new () => object;
        const place = { ...this.modulePathOf(host?.metatype), ...this.versionOf(controller) };
        const ctrlPaths = listOf(Reflect.getMetadata(PATH_METADATA, controller));
        return this.scanner.getAllMethodNames(controller.prototype as object).flatMap((name) => {
          const method = (controller.prototype as Record<string, object>)[name];
          const verb: unknown = method && Reflect.getMetadata(METHOD_METADATA, method);
          if (!method || (verb !== wanted && verb !== RequestMethod.ALL)) return [];
          const methodVersion = Reflect.getMetadata(VERSION_METADATA, method) as VersionValue | undefined;
          const paths = listOf(Reflect.getMetadata(PATH_METADATA, method)).flatMap((methodPath) =>
            ctrlPaths.flatMap((ctrlPath) =>
              this.fullPaths({ ...place, ctrlPath, methodPath, ...(methodVersion && { methodVersion }) }, verb),
            ),
          );
          return [{ origin: `${controller.name}.${name}`, paths }];
        });
      });
  }

  private fullPaths(place: RoutePathMetadata, verb: RequestMethod): string[] {
    const versioningOptions = this.config.getVersioning();
    return new RoutePathFactory(this.config).create(
      { ...place, globalPrefix: this.config.getGlobalPrefix(), ...(versioningOptions && { versioningOptions }) },
      verb,
    );
  }

  /** The version that Nest gives the routes of a controller that name none themselves. */
  private versionOf(controller: object): Pick<RoutePathMetadata, 'controllerVersion'> {
    const own = Reflect.getMetadata(VERSION_METADATA, controller) as VersionValue | undefined;
    const controllerVersion = own ?? this.config.getVersioning()?.defaultVersion;
    return controllerVersion === undefined ? {} : { controllerVersion };
  }

  /** Where `RouterModule` has put a module. */
  private modulePathOf(module: object | null | undefined): Pick<RoutePathMetadata, 'modulePath'> {
    if (!module) return {};
    const keys = [MODULE_PATH + this.modules.applicationId, MODULE_PATH];
    const modulePath = keys.map((key) => Reflect.getMetadata(key, module) as string | undefined).find(Boolean);
    return modulePath === undefined ? {} : { modulePath };
  }
}

function listOf(path: unknown): string[] {
  return (Array.isArray(path) ? path : [path ?? '']).map(String);
}

function sameRoute(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
