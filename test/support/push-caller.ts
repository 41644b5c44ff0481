import { PublicTargetPolicy, type JsonObject } from 'nestjs-a2a';
import type { Answer, Caller } from './caller.js';

/** A push config as it came over the wire. What may be absent is not marked: a test says what it expects. */
export interface WirePushConfig {
  readonly id: string;
  readonly taskId: string;
  readonly url: string;
  readonly token: string;
  readonly authentication: JsonObject;
}

/** A webhook that nothing is ever sent to under the {@link OfflinePolicy}. */
export const HOOK = 'https://hooks.example.com/a2a';

/** The policy for public hosts of a machine without name servers: names pass at registration, and nobody is dialed. */
export class OfflinePolicy extends PublicTargetPolicy {
  constructor() {
    super({ lookup: () => Promise.reject(new Error('There is no name server.')) });
  }
}

/** Makes a config for a task. */
export function createConfig(caller: Caller, taskId: string, config: JsonObject = {}): Promise<Answer> {
  return caller.invoke('CreateTaskPushNotificationConfig', { taskId, url: HOOK, ...config });
}

export function getConfig(caller: Caller, taskId: string, id: string): Promise<Answer> {
  return caller.invoke('GetTaskPushNotificationConfig', { taskId, id });
}

export function deleteConfig(caller: Caller, taskId: string, id: string): Promise<Answer> {
  return caller.invoke('DeleteTaskPushNotificationConfig', { taskId, id });
}

/** The configs of a task. */
export async function configsOf(caller: Caller, taskId: string): Promise<readonly WirePushConfig[]> {
  const { result } = await caller.invoke('ListTaskPushNotificationConfigs', { taskId });
  return (result as unknown as { readonly configs: readonly WirePushConfig[] }).configs;
}

/** The configuration of a message with a config. */
export function inline(config: JsonObject = {}): { readonly configuration: JsonObject } {
  return { configuration: { taskPushNotificationConfig: { url: HOOK, ...config } } };
}
