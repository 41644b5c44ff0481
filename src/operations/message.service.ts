import { Injectable } from '@nestjs/common';
import { InternalError, type SendMessageRequest, type SendMessageResponse } from '#protocol';
import type { CallContext } from '../context/call-context.js';
import type { TaskRun } from '../execution/task-run.js';
import { withHistory } from './history.policy.js';
import { MessageIntake } from './message.intake.js';
import { TaskReader } from './task.reader.js';

/**
 * Answers messages with what became of them.
 *
 * @see A2A v1.0 §3.1.1 Send Message
 */
@Injectable()
export class MessageService {
  constructor(
    private readonly intake: MessageIntake,
    private readonly reader: TaskReader,
  ) {}

  /**
   * Sends a message, and waits for the task to settle or pause unless the client does not want to.
   *
   * @throws {A2AError} when the message is refused
   */
  async send(request: SendMessageRequest, call: CallContext): Promise<SendMessageResponse> {
    const { historyLength, returnImmediately = false } = request.configuration ?? {};
    const watch = (run: TaskRun): void => {
      if (returnImmediately) run.watch();
    };
    const admission = await this.intake.admit(request, call, { disclose: returnImmediately, prepared: watch });
    const response =
      'response' in admission ? admission.response : await this.responseOf(admission.run, call, returnImmediately);
    return 'task' in response ? { task: withHistory(response.task, historyLength) } : response;
  }

  private async responseOf(run: TaskRun, call: CallContext, immediately: boolean): Promise<SendMessageResponse> {
    const begun = immediately ? run.beginning : new Promise<never>(() => undefined);
    const outcome = await Promise.race([begun, run.outcome, run.stall]);
    if (!outcome) throw new InternalError('The task store does not answer; the task goes on.');
    if (!('kind' in outcome)) return { task: outcome.task };
    switch (outcome.kind) {
      case 'task':
        return { task: run.recorder.current };
      case 'message':
        return { message: outcome.message };
      case 'elsewhere':
        return { task: (await this.reader.read(run.recorder.key.id, call)).task };
      case 'error':
        throw outcome.error;
    }
  }
}
