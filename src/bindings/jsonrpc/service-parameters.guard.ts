import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { A2A_SETTINGS, type A2ASettings } from '../../context/settings.js';
import { rawRequest } from '../body/capture.js';
import { negotiateExtensions, negotiateVersion } from './service-parameters.js';

/**
 * Lets a request through when it speaks a version and the extensions that the agent serves.
 *
 * @see A2A v1.0 §3.2.6 Service Parameters
 */
@Injectable()
export class ServiceParametersGuard implements CanActivate {
  constructor(@Inject(A2A_SETTINGS) private readonly settings: A2ASettings) {}

  /** @throws {VersionNotSupportedError} or {ExtensionSupportRequiredError} */
  canActivate(context: ExecutionContext): boolean {
    const request = rawRequest(context.switchToHttp().getRequest());
    negotiateVersion(request, this.settings.versionPolicy);
    negotiateExtensions(request, this.settings.extensions);
    return true;
  }
}
