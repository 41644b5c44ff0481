import { describe, expect, it } from '@jest/globals';
import { A2A_METHODS, isA2AMethod, OPERATIONS } from './operations.js';

describe('the operations', () => {
  it('are the eleven of the specification, in its order (WIRE-01)', () => {
    expect(A2A_METHODS).toEqual([
      'SendMessage',
      'SendStreamingMessage',
      'GetTask',
      'ListTasks',
      'CancelTask',
      'SubscribeToTask',
      'CreateTaskPushNotificationConfig',
      'GetTaskPushNotificationConfig',
      'ListTaskPushNotificationConfigs',
      'DeleteTaskPushNotificationConfig',
      'GetExtendedAgentCard',
    ]);
    expect(Object.values(OPERATIONS).map((operation) => operation.method)).toEqual(A2A_METHODS);
  });

  it('need the capability that their section names (B-63)', () => {
    const needs = Object.fromEntries(A2A_METHODS.map((method) => [method, OPERATIONS[method].capability]));
    expect(needs).toEqual({
      SendStreamingMessage: 'streaming',
      SubscribeToTask: 'streaming',
      CreateTaskPushNotificationConfig: 'pushNotifications',
      GetTaskPushNotificationConfig: 'pushNotifications',
      ListTaskPushNotificationConfigs: 'pushNotifications',
      DeleteTaskPushNotificationConfig: 'pushNotifications',
      GetExtendedAgentCard: 'extendedAgentCard',
    });
  });
});

describe('isA2AMethod', () => {
  it('knows each of them', () => {
    expect(A2A_METHODS.every(isA2AMethod)).toBe(true);
  });

  it.each(['sendmessage', 'message/send', 'tasks/get', '', 'constructor', '__proto__', 'toString', 'GetTask '])(
    'does not know %j (WIRE-06)',
    (name) => {
      expect(isA2AMethod(name)).toBe(false);
    },
  );
});
