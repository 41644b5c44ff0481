import { RequestMethod, VERSION_NEUTRAL, Inject, Injectable } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { RoutePathFactory } from '@nestjs/core/router/route-path-factory.js';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';

/** Knows where the endpoint is mounted: at its path below the host's global prefix, whatever the versioning. */
@Injectable()
export class EndpointPath {
  private known: string | undefined;

  constructor(
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    private readonly config: ApplicationConfig,
  ) {}

  /** The full path, such as `/api/a2a`. Not to be asked before the application is initialised. */
  get value(): string {
    // The global prefix is set after the modules were made, and before the first request.
    this.known ??= this.compute();
    return this.known;
  }

  /** Whether a request target is the endpoint, with or without a trailing slash. */
  matches(url = ''): boolean {
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    return path === this.value || path === `${this.value}/`;
  }

  private compute(): string {
    const versioningOptions = this.config.getVersioning();
    const [path] = new RoutePathFactory(this.config).create(
      {
        ctrlPath: this.settings.path,
        methodPath: '/',
        globalPrefix: this.config.getGlobalPrefix(),
        controllerVersion: VERSION_NEUTRAL,
        ...(versioningOptions && { versioningOptions }),
      },
      RequestMethod.POST,
    );
    return path ?? this.settings.path;
  }
}
