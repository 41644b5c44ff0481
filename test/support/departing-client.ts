import { request, type Server } from 'node:http';
import { until } from './until.js';

/** A call whose client can leave before the answer comes. */
export interface DepartingCall {
  /** Closes the connection, and resolves when it is closed. */
  readonly leave: () => Promise<void>;
}

/** Makes a call and waits for no answer. */
export function callAndLeave(url: string, method: string, params: unknown, user = 'alice'): DepartingCall {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const call = request(`${url}/a2a`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-user': user },
  });
  // The connection is closed on purpose.
  call.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    call.on('close', resolve);
  });
  call.end(body);
  return {
    leave: () => {
      call.destroy();
      return closed;
    },
  };
}

/** Counts the clients that left before they were answered, as the server sees it. */
export class Departures {
  count = 0;

  constructor(server: Server) {
    server.on('request', (_request, response) => {
      response.once('close', () => {
        if (!response.writableFinished) this.count++;
      });
    });
  }

  /** Has a client leave, and waits until the server knows. */
  async of(call: DepartingCall): Promise<void> {
    const before = this.count;
    await call.leave();
    await until(() => this.count > before, 'The departure');
  }
}
