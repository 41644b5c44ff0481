import { Global, Module, type DynamicModule } from '@nestjs/common';
import { SystemClock } from 'nestjs-a2a';
import { NotificationSigner } from '../../src/push/notification.signer.js';
import { notificationSigner } from '../../src/push/signed.notifications.js';
import { loadSigningKeys } from '../../src/signing/load-signing-keys.js';
import type { SigningKey } from '../../src/signing/signing.options.js';

/** Makes the agent that it is imported beside sign its notifications. */
@Global()
@Module({})
export class SigningAgentModule {
  static with(key: SigningKey): DynamicModule {
    const signer = {
      provide: NotificationSigner,
      useFactory: async () =>
        notificationSigner({ isSigned: true }, await loadSigningKeys({ keys: [key] }), new SystemClock()),
    };
    return { module: SigningAgentModule, providers: [signer], exports: [NotificationSigner] };
  }
}
