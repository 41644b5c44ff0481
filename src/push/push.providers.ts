import { Logger, type FactoryProvider } from '@nestjs/common';
import { Clock } from '../context/clock.js';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { TaskEventBus } from '../events/task-event.bus.js';
import { SigningKeys } from '../signing/signing.keys.js';
import { TaskStore } from '../store/task.store.js';
import { BestEffortDispatcher } from './best-effort.dispatcher.js';
import { DurableDispatcher } from './durable.dispatcher.js';
import { NotificationSigner } from './notification.signer.js';
import { PushDispatcher, PushDispatchers, SilentPushDispatcher } from './push.dispatcher.js';
import { PushSender } from './push.sender.js';
import { A2A_PUSH_SETTINGS, type PushSettings } from './push.settings.js';
import { notificationSigner } from './signed.notifications.js';

/** What vouches for notifications, when they are to be signed. */
export const NOTIFICATION_SIGNER: FactoryProvider<NotificationSigner | undefined> = {
  provide: NotificationSigner,
  inject: [A2A_PUSH_SETTINGS, SigningKeys, Clock],
  useFactory: notificationSigner,
};

/** What brings updates to webhooks, as the options and the store have it. */
export const PUSH_DISPATCHER: FactoryProvider<PushDispatcher> = {
  provide: PushDispatcher,
  inject: [TaskStore, TaskEventBus, PushSender, A2A_PUSH_SETTINGS, A2A_SETTINGS],
  useFactory: (
    store: TaskStore,
    bus: TaskEventBus,
    sender: PushSender,
    settings: PushSettings,
    { lease }: A2ASettings,
  ) => {
    const { pushConfigs: configs } = store;
    if (!settings.isEnabled) return new SilentPushDispatcher();
    if (settings.isDurable && !(configs?.cursors && store.eventsAfter)) {
      throw new A2AConfigurationError(
        "push.delivery is 'durable', and the store cannot keep what is still to be delivered. Keep tasks in a database, or let delivery be 'best-effort'.",
      );
    }
    if (!configs) return new SilentPushDispatcher();
    if (settings.allowPrivate) {
      new Logger('PushDispatcher').warn('Webhooks may be in private networks (push.allowPrivate). Not for production.');
    }
    const deps = { store, configs, bus, sender, settings };
    // Each brings its own kind of configs: those of the time before the option was changed, and of other replicas, too.
    const bestEffort = new BestEffortDispatcher(deps);
    const { cursors } = configs;
    if (!cursors || !store.eventsAfter) return bestEffort;
    return new PushDispatchers([bestEffort, new DurableDispatcher(deps, cursors, lease, settings.isDurable)]);
  },
};
