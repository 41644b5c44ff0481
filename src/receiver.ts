export { NotificationGuard } from './receiver/notification.guard.js';
export { ReceivedNotification } from './receiver/received-notification.decorator.js';
export { A2A_RECEIVER_OPTIONS, type ReceiverOptions } from './receiver/receiver.options.js';
