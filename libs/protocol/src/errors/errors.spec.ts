import { describe, expect, it } from '@jest/globals';
import * as errors from '../index.js';
import { A2AError, A2AErrorCode, ERROR_TABLE, findA2AError, InvalidParamsError, isA2AError } from '../index.js';

const INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const STRUCT = 'type.googleapis.com/google.protobuf.Struct';

type KnownErrorClass = new (message?: string, options?: errors.KnownErrorOptions) => A2AError;

/** A2A v1.0 §5.4 and §9.5, row by row: code, class, HTTP, gRPC, reason, and whether it is of the A2A domain. */
const ROWS: [number, keyof typeof errors, number, string, string, boolean][] = [
  [-32700, 'JsonParseError', 400, 'INVALID_ARGUMENT', 'JSON_PARSE', false],
  [-32600, 'InvalidRequestError', 400, 'INVALID_ARGUMENT', 'INVALID_REQUEST', false],
  [-32601, 'MethodNotFoundError', 404, 'UNIMPLEMENTED', 'METHOD_NOT_FOUND', false],
  [-32603, 'InternalError', 500, 'INTERNAL', 'INTERNAL', false],
  [-32001, 'TaskNotFoundError', 404, 'NOT_FOUND', 'TASK_NOT_FOUND', true],
  [-32002, 'TaskNotCancelableError', 400, 'FAILED_PRECONDITION', 'TASK_NOT_CANCELABLE', true],
  [-32003, 'PushNotificationNotSupportedError', 400, 'FAILED_PRECONDITION', 'PUSH_NOTIFICATION_NOT_SUPPORTED', true],
  [-32004, 'UnsupportedOperationError', 400, 'FAILED_PRECONDITION', 'UNSUPPORTED_OPERATION', true],
  [-32005, 'ContentTypeNotSupportedError', 400, 'INVALID_ARGUMENT', 'CONTENT_TYPE_NOT_SUPPORTED', true],
  [-32006, 'InvalidAgentResponseError', 500, 'INTERNAL', 'INVALID_AGENT_RESPONSE', true],
  [
    -32007,
    'ExtendedAgentCardNotConfiguredError',
    400,
    'FAILED_PRECONDITION',
    'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
    true,
  ],
  [-32008, 'ExtensionSupportRequiredError', 400, 'FAILED_PRECONDITION', 'EXTENSION_SUPPORT_REQUIRED', true],
  [-32009, 'VersionNotSupportedError', 400, 'FAILED_PRECONDITION', 'VERSION_NOT_SUPPORTED', true],
  [-31401, 'UnauthenticatedError', 401, 'UNAUTHENTICATED', 'UNAUTHENTICATED', true],
  [-31403, 'PermissionDeniedError', 403, 'PERMISSION_DENIED', 'PERMISSION_DENIED', true],
];

describe.each(ROWS)('%i %s', (code, name, http, grpc, reason, isDomainError) => {
  const ErrorClass = errors[name] as KnownErrorClass;

  it('has its code, reason, name and message (ERR-01, ERR-04b)', () => {
    const error = new ErrorClass();
    expect(error).toMatchObject({ code, reason, name, message: ERROR_TABLE[code as A2AErrorCode].message });
    expect(new ErrorClass('Other words').message).toBe('Other words');
    expect(error).toBeInstanceOf(Error);
  });

  it('maps to the statuses of the specification', () => {
    expect(ERROR_TABLE[code as A2AErrorCode]).toMatchObject({ http, grpc, name, reason });
  });

  it('has the details that its kind has (ERR-04a)', () => {
    const info = { '@type': INFO, reason, domain: 'a2a-protocol.org' };
    expect(new ErrorClass().data).toEqual(isDomainError ? [info] : undefined);
    expect(new ErrorClass(undefined, { metadata: { a: 'b' } }).data).toEqual([{ ...info, metadata: { a: 'b' } }]);
  });

  it('keeps its cause for the log, out of its details', () => {
    const cause = new Error('db://user:pw@host');
    const error = new ErrorClass(undefined, { cause });
    expect(error.cause).toBe(cause);
    expect(JSON.stringify([error.message, error.data ?? null])).not.toContain('pw@host');
  });
});

it('says the standard messages (CONF-07)', () => {
  expect(new errors.JsonParseError().message).toBe('Invalid JSON payload');
  expect(new errors.InvalidRequestError().message).toBe('Request payload validation error');
  expect(new errors.MethodNotFoundError().message).toBe('Method not found');
  expect(new errors.InvalidParamsError([]).message).toBe('Invalid parameters');
  expect(new errors.InternalError().message).toBe('Internal error');
  expect(new errors.TaskNotFoundError().message).toBe('Task not found');
  expect(new errors.TaskNotCancelableError().message).toBe('Task cannot be canceled');
});

it('lists every code in the table, each once', () => {
  expect(Object.keys(ERROR_TABLE).map(Number).sort()).toEqual(Object.values(A2AErrorCode).sort());
  expect(Object.values(A2AErrorCode)).toHaveLength(ROWS.length + 1);
});

describe('InvalidParamsError', () => {
  it('names the wrong fields in a BadRequest (ERR-04c)', () => {
    const violations = [{ field: 'message.parts', description: 'At least one is required' }];
    const error = new InvalidParamsError(violations);
    expect(error).toMatchObject({ code: -32602, reason: 'INVALID_PARAMS', violations });
    expect(error.data).toEqual([{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }]);
  });
});

describe('A2AError', () => {
  it('keeps details that already have the shape of the wire (ERR-04a)', () => {
    const data = [{ '@type': 'example.com/Locked', orderId: 7 }];
    expect(new A2AError({ code: -32050, message: 'Locked', data }).data).toEqual(data);
  });

  it.each([{ a: 1 }, [{ a: 1 }], [{ '@type': 1 }], [{ '@type': 'x' }, 5], 'text', 0, false, null])(
    'wraps %j, and neither drops nor sends it raw (ERR-05)',
    (data) => {
      expect(new A2AError({ code: -32050, message: 'm', data }).data).toEqual([{ '@type': STRUCT, value: data }]);
    },
  );

  it('copies its details', () => {
    const data = { a: { b: 1 } };
    const error = new A2AError({ code: 1, message: 'm', data });
    data.a.b = 2;
    expect(error.data).toEqual([{ '@type': STRUCT, value: { a: { b: 1 } } }]);
  });

  it('goes without details that are no JSON, rather than fail on its way', () => {
    const error = new A2AError({ code: -32050, message: 'm', data: { a: 1n } });
    expect(error.message).toBe('m');
    expect('data' in error).toBe(false);
  });

  it('takes the reason of its code, or says that it is the application’s', () => {
    expect(new A2AError({ code: -32001, message: 'm' })).toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(new A2AError({ code: -32050, message: 'm' })).toMatchObject({
      reason: 'APPLICATION_ERROR',
      name: 'A2AError',
    });
    expect(new A2AError({ code: 1, message: 'm', reason: 'ORDER_LOCKED' }).reason).toBe('ORDER_LOCKED');
  });

  it('has no code that JSON-RPC could not carry', () => {
    expect(new A2AError({ code: NaN, message: 'm' }).code).toBe(-32603);
    expect(new A2AError({ code: 1.5, message: 'm' }).code).toBe(-32603);
  });
});

describe('the constructors (ERR-02b)', () => {
  it('name the task that was asked for, and nothing else (ERR-07)', () => {
    expect(errors.taskNotFound('t1').data).toEqual([
      { '@type': INFO, reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org', metadata: { taskId: 't1' } },
    ]);
    expect(errors.taskNotFound().data?.[0]).not.toHaveProperty('metadata');
  });

  it('build the errors they are called after', () => {
    expect(errors.taskNotCancelable('t1', 'TASK_STATE_COMPLETED')).toMatchObject({
      code: -32002,
      data: [{ metadata: { taskId: 't1', state: 'TASK_STATE_COMPLETED' } }],
    });
    expect(errors.unauthenticated()).toMatchObject({ code: -31401, message: 'Unauthenticated' });
    expect(errors.unauthenticated('Token expired').message).toBe('Token expired');
    expect(errors.unsupportedOperation('Not here')).toMatchObject({ code: -32004, message: 'Not here' });
    expect(errors.a2aError(-32050, 'Locked', { a: 1 })).toMatchObject({ code: -32050, message: 'Locked' });
  });
});

describe('isA2AError', () => {
  it('knows an error of another copy of the package (B-09)', () => {
    const foreign = Object.assign(new Error('m'), { code: -32001, [Symbol.for('nestjs-a2a.error')]: true });
    expect(isA2AError(foreign)).toBe(true);
  });

  it.each([null, undefined, 'x', 5, {}, new Error('m'), { code: -32001, message: 'm' }])(
    'knows that %p is none',
    (value) => {
      expect(isA2AError(value)).toBe(false);
    },
  );

  it('is not thrown off by what user code throws', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(isA2AError(proxy)).toBe(false);
    expect(findA2AError(proxy)).toBeUndefined();
  });
});

describe('findA2AError', () => {
  const found = new errors.TaskNotFoundError();

  it('finds the error itself, or the nearest in its chain of causes (B-09)', () => {
    expect(findA2AError(found)).toBe(found);
    expect(findA2AError(new Error('a', { cause: new Error('b', { cause: found }) }))).toBe(found);
    expect(findA2AError({ cause: found })).toBe(found);
  });

  it('finds none where there is none', () => {
    expect(findA2AError(new Error('a', { cause: 'b' }))).toBeUndefined();
    expect(findA2AError(undefined)).toBeUndefined();
    expect(findA2AError('x')).toBeUndefined();
  });

  it('comes to an end on a chain that leads back to itself', () => {
    const error = new Error('a');
    error.cause = error;
    expect(findA2AError(error)).toBeUndefined();
  });

  it('does not follow an endless chain', () => {
    const endless = {
      get cause(): unknown {
        return Object.create(endless) as unknown;
      },
    };
    expect(findA2AError(endless)).toBeUndefined();
  });
});
