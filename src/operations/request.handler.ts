import { Inject, Injectable } from '@nestjs/common';
import {
  InvalidParamsError,
  UnsupportedOperationError,
  type A2AMethod,
  type RequestOf,
  type ResponseOf,
} from '#protocol';
import type { CallContext } from '../context/call-context.js';
import { A2A_SETTINGS, type A2ASettings } from '../context/settings.js';
import { CapabilityPolicy } from './capability.policy.js';
import { ExtendedCardService } from './extended-card.service.js';
import { MessageService } from './message.service.js';
import { PushConfigService } from './push-config.service.js';
import { StreamService } from './stream.service.js';
import type { StreamFrame } from './task-stream.js';
import { TaskService } from './task.service.js';

/** The methods that answer with a stream. */
export type StreamingMethod = 'SendStreamingMessage' | 'SubscribeToTask';

type Operation<M extends A2AMethod> = (request: RequestOf<M>, call: CallContext) => Promise<ResponseOf<M>>;

/**
 * Serves the operations of the protocol, whatever binding a call came through.
 *
 * @see A2A v1.0 §3.1 Core Operations
 */
@Injectable()
export class RequestHandler {
  private readonly operations: { readonly [M in A2AMethod]?: Operation<M> };
  private readonly streams: {
    readonly [M in StreamingMethod]: (request: RequestOf<M>, call: CallContext) => AsyncGenerator<StreamFrame>;
  };

  constructor(
    @Inject(A2A_SETTINGS) private readonly settings: A2ASettings,
    private readonly capabilities: CapabilityPolicy,
    messages: MessageService,
    tasks: TaskService,
    streams: StreamService,
    pushConfigs: PushConfigService,
    extendedCards: ExtendedCardService,
  ) {
    this.streams = {
      SendStreamingMessage: (request, call) => streams.send(request, call),
      SubscribeToTask: (request, call) => streams.subscribe(request, call),
    };
    this.operations = {
      SendMessage: (request, call) => messages.send(request, call),
      GetTask: (request, call) => tasks.get(request, call),
      ListTasks: (request, call) => tasks.list(request, call),
      CancelTask: (request, call) => tasks.cancel(request, call),
      CreateTaskPushNotificationConfig: (request, call) => pushConfigs.create(request, call),
      GetTaskPushNotificationConfig: (request, call) => pushConfigs.get(request, call),
      ListTaskPushNotificationConfigs: (request, call) => pushConfigs.list(request, call),
      DeleteTaskPushNotificationConfig: (request, call) => pushConfigs.delete(request, call),
      GetExtendedAgentCard: (request, call) => extendedCards.get(request, call),
    };
  }

  /** @throws {A2AError} what the operation answers instead of a result */
  handle<M extends A2AMethod>(method: M, request: RequestOf<M>, call: CallContext): Promise<ResponseOf<M>> {
    this.capabilities.assertServes(method);
    this.assertTenant(request);
    const operation = this.operations[method];
    if (!operation) throw new UnsupportedOperationError();
    return operation(request, call);
  }

  /**
   * Streams an operation that does.
   *
   * @returns the frames; the first step throws what refuses the stream
   * @throws {A2AError} when the agent does not stream
   */
  stream<M extends StreamingMethod>(method: M, request: RequestOf<M>, call: CallContext): AsyncGenerator<StreamFrame> {
    this.capabilities.assertServes(method);
    this.assertTenant(request);
    return this.streams[method](request, call);
  }

  /** The tenant of a request routes it and grants nothing: it is only compared with the one on the card (§4.4.6). */
  private assertTenant({ tenant }: { readonly tenant?: string }): void {
    const { interfaceTenant } = this.settings;
    if (interfaceTenant === undefined || tenant === interfaceTenant) return;
    throw new InvalidParamsError([{ field: 'tenant', description: "Must be the tenant of the card's interface." }]);
  }
}
