import { InvalidParamsError } from '../errors/rpc-errors.js';
import { formatPath, type JsonPath } from '../json-path.js';
import type { JsonObject, JsonValue } from '../json.js';
import type { MessageName } from '../message-types.js';
import { Role } from '../model.js';
import { type A2AMethod, OPERATIONS, type RequestOf } from '../operations.js';
import { shapeOf } from '../schema/shape.js';
import { decodeMessage } from './decode-message.js';
import { Violations } from './violations.js';

/**
 * Reads the params of an operation.
 *
 * The result is a fresh object that holds the known fields only, in their normal form, and shares nothing with `params`.
 * Every violation is collected before the first is reported.
 *
 * @param params As the strict reader gave them; absent or null reads as `{}`.
 * @param duplicates The paths of repeated keys, from `params`: each is a violation.
 * @throws {InvalidParamsError} Naming each wrong field.
 * @see A2A v1.0 §3.3.2 Error Handling, §5.5 JSON Field Naming Convention, §5.7 Field Presence and Optionality
 */
export function decodeRequest<M extends A2AMethod>(
  method: M,
  params: JsonValue | undefined,
  duplicates: readonly JsonPath[] = [],
): RequestOf<M> {
  const source = params ?? {};
  if (typeof source !== 'object' || Array.isArray(source)) {
    throw new InvalidParamsError([{ field: 'params', description: 'Must be an object' }]);
  }
  const name = OPERATIONS[method].request;
  const violations = new Violations();
  for (const path of duplicates) violations.add(formatPath(toJsonNames(name, path)), 'The key is repeated');
  const request = decodeMessage(name, source, '', violations);
  checkOperation(method, request, violations);
  violations.throwIfAny();
  // The schema is that of the request's type (see schema.ts), and no rule of it is broken.
  return request as unknown as RequestOf<M>;
}

/** What an operation demands beyond the schema of its message, which others share. */
function checkOperation(method: A2AMethod, request: JsonObject, violations: Violations): void {
  switch (method) {
    case 'SendMessage':
    case 'SendStreamingMessage': {
      const role = (request['message'] as JsonObject | undefined)?.['role'];
      if (role !== undefined && role !== Role.User) violations.add('message.role', `Must be ${Role.User}`);
      break;
    }
    case 'CreateTaskPushNotificationConfig':
      // An inline config in a SendMessage has none, so the schema cannot demand it.
      if (request['taskId'] === undefined && !violations.has('taskId'))
        violations.add('taskId', 'This field is required');
      break;
    default:
  }
}

/** Spells the fields on a path by their JSON names, however the client spelled them. */
function toJsonNames(name: MessageName, path: JsonPath): JsonPath {
  let message: MessageName | undefined = name;
  return path.map((step) => {
    if (typeof step === 'number' || message === undefined) return step;
    const field = shapeOf(message).spelled.get(step);
    message = field?.type.kind === 'message' ? field.type.of : undefined;
    return field?.name ?? step;
  });
}
