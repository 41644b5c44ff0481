import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentCard, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultPushNotificationSender,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
  type AgentExecutor,
  type ExecutionEventBus,
  type RequestContext,
} from '@a2a-js/sdk/server';
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import type { Subject } from './ours.js';

/** The same skills as ours, as its users would write them for the official SDK. */
class PeerExecutor implements AgentExecutor {
  async execute({ taskId, contextId, userMessage }: RequestContext, bus: ExecutionEventBus): Promise<void> {
    const { skill, count = 1, size = 0 } = inputOf(userMessage);
    const text = skill === 'chunks' ? 'x'.repeat(size) : (userMessage.parts[0]?.content?.value as string);
    bus.publish(
      AgentEvent.task(
        Task.fromJSON({
          id: taskId,
          contextId,
          status: { state: 'TASK_STATE_SUBMITTED', timestamp: new Date().toISOString() },
        }),
      ),
    );
    for (let index = 0; index < count; index++) {
      await Promise.resolve();
      const artifact = { artifactId: 'result', parts: [{ text }] };
      bus.publish(
        AgentEvent.artifactUpdate(
          TaskArtifactUpdateEvent.fromJSON({ taskId, contextId, artifact, append: index > 0, lastChunk: false }),
        ),
      );
    }
    bus.publish(
      AgentEvent.statusUpdate(
        TaskStatusUpdateEvent.fromJSON({
          taskId,
          contextId,
          status: { state: 'TASK_STATE_COMPLETED', timestamp: new Date().toISOString() },
        }),
      ),
    );
    bus.finished();
  }

  cancelTask(): Promise<void> {
    return Promise.resolve();
  }
}

interface PeerInput {
  readonly skill?: string;
  readonly count?: number;
  readonly size?: number;
}

function inputOf({ parts }: RequestContext['userMessage']): PeerInput {
  const data = parts.find((part) => part.content?.$case === 'data')?.content?.value as
    { skill?: string; arguments?: PeerInput } | undefined;
  return data ? { ...data.arguments, ...(data.skill !== undefined && { skill: data.skill }) } : {};
}

/** Starts the official SDK's server on a free port, tasks in memory. */
export async function startPeer(): Promise<Subject> {
  const card = AgentCard.fromJSON({
    name: 'Bench',
    description: 'An agent to be measured.',
    version: '1.0.0',
    supportedInterfaces: [{ url: 'http://127.0.0.1/', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: true, pushNotifications: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'echo', name: 'echo', description: 'echo', tags: [] }],
  });
  const configs = new InMemoryPushNotificationStore();
  const sender = new DefaultPushNotificationSender(configs);
  const store = new InMemoryTaskStore();
  const requestHandler = new DefaultRequestHandler(card, store, new PeerExecutor(), undefined, configs, sender);
  const app = express();
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    name: '@a2a-js/sdk',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a2a`,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
