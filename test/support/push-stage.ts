import type { A2AOptions, JsonObject, PushOptions } from 'nestjs-a2a';
import type { AgentSetup } from './agent.js';
import type { Caller, SendOptions } from './caller.js';
import { startStage, type Stage } from './puppet.js';
import type { WebhookReceiver } from './webhook-receiver.js';

/** Boots an agent with the puppet skills whose webhooks may be on this machine. */
export function startPushStage(
  push: PushOptions = {},
  options: Partial<A2AOptions> = {},
  setup: Omit<AgentSetup, 'options'> = {},
): Promise<Stage> {
  return startStage({ ...options, push: { allowPrivate: true, ...push } }, setup);
}

/** Options of a message that registers a webhook. */
export function notifying({ url }: Pick<WebhookReceiver, 'url'>, config: JsonObject = {}): SendOptions {
  return { configuration: { taskPushNotificationConfig: { url, ...config } } };
}

/**
 * Registers a webhook on a task that is there already.
 *
 * @returns the id of the config
 */
export async function register(
  caller: Caller,
  taskId: string,
  { url }: Pick<WebhookReceiver, 'url'>,
  config: JsonObject = {},
): Promise<string> {
  const { result, text } = await caller.invoke('CreateTaskPushNotificationConfig', { taskId, url, ...config });
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- an error has no result
  if (!result?.id) throw new Error(`No config came of it: ${text}`);
  return result.id;
}
