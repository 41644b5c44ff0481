import type { TaskEventBus } from '../events/task-event.bus.js';
import type { PushConfigStore } from '../store/push-config.store.js';
import type { TaskStore } from '../store/task.store.js';
import type { PushSender } from './push.sender.js';
import type { PushSettings } from './push.settings.js';

/** What a dispatcher works with. */
export interface DispatcherDependencies {
  readonly store: TaskStore;
  readonly configs: PushConfigStore;
  readonly bus: TaskEventBus;
  readonly sender: PushSender;
  readonly settings: PushSettings;
}
