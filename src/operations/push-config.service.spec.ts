import { beforeEach, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { draftOf } from 'nestjs-a2a/testing';
import { GatedPushConfigs } from '../../test/support/noted-configs.js';
import { ManualClock } from '../../test/support/manual-clock.js';
import { OfflinePolicy } from '../../test/support/push-caller.js';
import { settingsOf } from '../../test/support/settings.js';
import { until } from '../../test/support/until.js';
import type { CallContext } from '../context/call-context.js';
import { UuidGenerator } from '../context/id-generator.js';
import { PushConfigIntake } from '../push/push-config.intake.js';
import { SilentPushDispatcher } from '../push/push.dispatcher.js';
import { PushSecrets } from '../push/push.secrets.js';
import { resolvePushOptions } from '../push/push.settings.js';
import { MemoryTaskStore } from '../store/memory/memory-task.store.js';
import type { PushConfigKey } from '../store/push-config.record.js';
import { PushConfigService } from './push-config.service.js';
import { TaskReader } from './task.reader.js';

class Store extends MemoryTaskStore {
  override readonly pushConfigs = new GatedPushConfigs();
}

class NotingDispatcher extends SilentPushDispatcher {
  readonly forgotten: PushConfigKey[] = [];

  override forget(config?: PushConfigKey): void {
    if (config) this.forgotten.push(config);
  }
}

describe('The push configs of a caller', () => {
  const draft = draftOf();
  const taskId = draft.task.id;
  const { owner, tenant, scope } = draft;
  const key = { id: 'c', taskId, owner };
  let store: Store;
  let dispatcher: NotingDispatcher;
  let service: PushConfigService;
  let leaving: AbortController;
  let call: CallContext;

  beforeEach(async () => {
    Logger.overrideLogger(false);
    store = new Store();
    dispatcher = new NotingDispatcher();
    const settings = resolvePushOptions();
    const secrets = new PushSecrets(settings);
    const intake = new PushConfigIntake(new OfflinePolicy(), secrets, new UuidGenerator(), new ManualClock(), settings);
    const reader = new TaskReader(store, settingsOf());
    service = new PushConfigService(store, reader, intake, dispatcher, secrets, settings);
    leaving = new AbortController();
    call = { tier: { owner, tenant, scope }, signal: leaving.signal } as CallContext;
    await store.create(draft);
    await service.create({ taskId, id: 'c', url: 'https://hooks.example.com' }, call);
  });

  it('are forgotten by what brings updates once they are removed (PCFG-10)', async () => {
    const gate = store.pushConfigs.hold('remove');
    const removal = service.delete({ taskId, id: 'c' }, call);
    await gate.whenWaiting();
    expect(dispatcher.forgotten).toEqual([]);
    gate.open();
    await removal;
    expect(dispatcher.forgotten).toEqual([key]);
  });

  it('are forgotten also when nobody waits for their removal any more (PCFG-10, R-37)', async () => {
    const gate = store.pushConfigs.hold('remove');
    const removal = service.delete({ taskId, id: 'c' }, call);
    await gate.whenWaiting();
    leaving.abort();
    await expect(removal).rejects.toMatchObject({ code: -32603 });
    gate.open();
    await until(() => dispatcher.forgotten.length > 0, 'The removal');
    expect(dispatcher.forgotten).toEqual([key]);
    expect(await store.pushConfigs.read(key)).toBeUndefined();
  });

  it('are not forgotten when they could not be removed (PCFG-10)', async () => {
    store.pushConfigs.remove = () => Promise.reject(new Error('The disk is full.'));
    await expect(service.delete({ taskId, id: 'c' }, call)).rejects.toMatchObject({ code: -32603 });
    expect(dispatcher.forgotten).toEqual([]);
  });

  it('must name their task, whatever binding they came through (PCFG-03a)', async () => {
    for (const task of [{}, { taskId: '' }]) {
      const request = { ...task, url: 'https://hooks.example.com' };
      await expect(service.create(request, call)).rejects.toMatchObject({ code: -32602 });
    }
  });
});
