import { Inject, Injectable, Logger } from '@nestjs/common';
import { TargetPolicy, TargetRefusedError } from '#outbound';
import { InvalidParamsError, scrub, type FieldViolation, type TaskPushNotificationConfig } from '#protocol';
import { Clock } from '../context/clock.js';
import { IdGenerator } from '../context/id-generator.js';
import type { PushConfigDraft } from '../store/task.store.js';
import type { TaskKey } from '../store/task-key.js';
import { authorizationOf, isSentInTheClear } from './authorization.js';
import { A2A_PUSH_SETTINGS, type PushSettings } from './push.settings.js';
import { PushSecrets } from './push.secrets.js';

/** How long a URL, a token, a scheme or credentials may be, in characters. */
const MAX_LENGTH = 4_096;

/** Lets push configs in that lead nowhere but to where the agent may send. */
@Injectable()
export class PushConfigIntake {
  private readonly logger = new Logger(PushConfigIntake.name);

  constructor(
    private readonly policy: TargetPolicy,
    private readonly secrets: PushSecrets,
    private readonly ids: IdGenerator,
    private readonly clock: Clock,
    @Inject(A2A_PUSH_SETTINGS) private readonly settings: PushSettings,
  ) {}

  /**
   * Checks a config, and makes of it what is stored.
   *
   * @param task what it is bound to, whatever it says itself
   * @param field where in the request it stands, for the error; with a dot behind it
   * @throws {InvalidParamsError} when it must not be stored
   */
  async admit(config: TaskPushNotificationConfig, task: TaskKey, field = ''): Promise<PushConfigDraft> {
    const refuse = (name: string, description: string): never => {
      const violation: FieldViolation = { field: field + name, description };
      throw new InvalidParamsError([violation]);
    };
    const { url, token = '', authentication } = config;
    if (url === '') refuse('url', 'Must be set.');
    for (const [name, value] of [
      ['url', url],
      ['token', token],
      ['authentication.scheme', authentication?.scheme ?? ''],
      ['authentication.credentials', authentication?.credentials ?? ''],
    ] as const) {
      if (value.length > MAX_LENGTH) refuse(name, `Must be at most ${MAX_LENGTH} characters.`);
    }
    try {
      const target = this.policy.checkUrl(url);
      if (isSentInTheClear(target, config, this.settings)) refuse('url', 'Must be https, since there are credentials.');
      await this.policy.resolve(target);
    } catch (error) {
      if (!(error instanceof TargetRefusedError)) throw error;
      refuse('url', error.message);
    }
    if (authentication?.credentials !== undefined && authorizationOf(config) === undefined) {
      // Without the scheme, in whose place clients put a whole header at times.
      this.logger.warn(`A config of task ${scrub(task.id)} has a scheme by which no credentials can be sent.`);
    }
    return { record: this.recordOf(config, task), keep: this.settings.maxConfigsPerTask };
  }

  private recordOf(config: TaskPushNotificationConfig, { id: taskId, owner }: TaskKey): PushConfigDraft['record'] {
    const id = config.id === undefined || config.id === '' ? this.ids.next() : config.id;
    return this.secrets.seal({
      config: { ...config, id, taskId },
      owner,
      createdAt: this.clock.now(),
      ...(this.settings.isDurable && { durable: true }),
    });
  }
}
