import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Agent, type RequestListener } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { connect, type Socket } from 'node:net';
import { type Receiver, startRawReceiver, startReceiver, startSecureReceiver } from '../../../test/support/receiver.js';
import { TLS_IDENTITY } from '../../../test/support/tls-identity.js';
import { until } from '../../../test/support/until.js';
import { guardedRequest } from './guarded-request.js';
import type { NameLookup } from './name-lookup.js';
import { PublicTargetPolicy } from './public-target-policy.js';
import { RequestTimeoutError } from './request-timeout-error.js';
import { TargetRefusedError } from './target-refused-error.js';

/** Long enough for everything that ends by itself, on a busy machine as well. */
const LONG = 25_000;
/** For receivers that never answer. */
const SHORT = 150;

const running: Receiver[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map(async ({ close }) => close()));
});

async function start(receiver: Promise<Receiver>): Promise<Receiver> {
  running.push(await receiver);
  return receiver;
}

/** Lets requests go to this machine; names stand for the given addresses. */
function open(...addresses: readonly string[]): PublicTargetPolicy {
  return new PublicTargetPolicy({ allowPrivate: true, lookup: async () => addresses });
}

/** Admits loopback as long as it is looked up, as if it were public, and refuses it at the connection. */
class TurningPolicy extends PublicTargetPolicy {
  private checks = 0;

  override checkUrl(url: string): URL {
    return new URL(url);
  }

  override checkAddress(): void {
    this.checks += 1;
    if (this.checks > 1) throw new TargetRefusedError('ADDRESS_NOT_PUBLIC');
  }
}

const ok: RequestListener = (request, response) => {
  request.resume();
  response.end('ok');
};

describe('A guarded request', () => {
  it('sends method, path, headers and body, and gives back status, headers and body', async () => {
    let seen: unknown;
    const receiver = await start(
      startReceiver((request, response) => {
        const chunks: Buffer[] = [];
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const { method, url, headers } = request;
          seen = { method, url, headers, body: Buffer.concat(chunks).toString() };
          response.writeHead(202, { 'x-answer': '1' }).end('thanks');
        });
      }),
    );
    const answer = await guardedRequest(`http://hook.example:${receiver.port}/a%20b?c=d#e`, {
      policy: open('127.0.0.1'),
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Host: 'elsewhere.example' },
      body: '{"ä":1}',
      timeoutMs: LONG,
    });
    expect(answer).toMatchObject({ status: 202, headers: { 'x-answer': '1' }, isTruncated: false });
    expect(answer.body.toString()).toBe('thanks');
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/a%20b?c=d',
      headers: {
        'content-type': 'application/json',
        'content-length': '8',
        host: `hook.example:${receiver.port}`,
        connection: 'close',
      },
      body: '{"ä":1}',
    });
  });

  it('goes to IPv6 addresses, literal and looked up', async () => {
    const receiver = await start(startReceiver(ok, '::1'));
    for (const host of ['[::1]', 'hook.example']) {
      const answer = await guardedRequest(`http://${host}:${receiver.port}/`, { policy: open('::1'), timeoutMs: LONG });
      expect(answer.status).toBe(200);
    }
  });

  it('tries the next address when one does not answer', async () => {
    const receiver = await start(startReceiver(ok));
    const policy = open('::1', '127.0.0.2', '127.0.0.1');
    const answer = await guardedRequest(`http://hook.example:${receiver.port}/`, { policy, timeoutMs: LONG });
    expect(answer.status).toBe(200);
  });

  it('refuses what the policy refuses, before any look-up', async () => {
    const lookup = jest.fn<NameLookup>();
    await expect(
      guardedRequest('http://localhost/', { policy: new PublicTargetPolicy({ lookup }) }),
    ).rejects.toMatchObject({ name: 'TargetRefusedError', reason: 'HOST_NOT_PUBLIC' });
    expect(lookup).not.toHaveBeenCalled();
  });

  it('fails when the name has no address, with the error of the look-up when there is one (SSRF-04a)', async () => {
    const fault = new Error('queryA ENOTFOUND hook.example');
    const failing = new PublicTargetPolicy({
      lookup: async () => {
        throw fault;
      },
    });
    await expect(guardedRequest('http://hook.example/', { policy: failing })).rejects.toBe(fault);
    await expect(guardedRequest('http://hook.example/', { policy: open() })).rejects.toThrow(
      'hook.example has no address.',
    );
  });
});

describe('An address that changes', () => {
  it('is caught when a name is public at registration and loopback at the request (S-03, SSRF-05)', async () => {
    const receiver = await start(startReceiver(ok));
    const answers = [['8.8.8.8'], ['127.0.0.1']];
    const policy = new PublicTargetPolicy({ lookup: async () => answers.shift()! });
    const url = `http://hook.example:${receiver.port}/`;
    await policy.resolve(policy.checkUrl(url));
    await expect(guardedRequest(url, { policy, timeoutMs: LONG })).rejects.toMatchObject({
      reason: 'ADDRESS_NOT_PUBLIC',
    });
    expect(receiver.connections).toBe(0);
    expect(answers).toEqual([]);
  });

  it.each([
    [['8.8.8.8', '127.0.0.1']],
    [['127.0.0.1', '8.8.8.8']],
    [['2606:4700:4700::1111', '8.8.8.8', '::ffff:127.0.0.1']],
  ])('is caught among the addresses %j of one answer, so that the second is not tried (S-03)', async (addresses) => {
    const receiver = await start(startReceiver(ok));
    const policy = new PublicTargetPolicy({ lookup: async () => addresses });
    await expect(
      guardedRequest(`http://hook.example:${receiver.port}/`, { policy, timeoutMs: LONG }),
    ).rejects.toBeInstanceOf(TargetRefusedError);
    expect(receiver.connections).toBe(0);
  });

  it('is looked up once for each request, and that answer is the one connected to (SSRF-05)', async () => {
    const receiver = await start(startReceiver(ok));
    const lookup = jest.fn<NameLookup>(async () => ['127.0.0.1']);
    const policy = new PublicTargetPolicy({ allowPrivate: true, lookup });
    await guardedRequest(`http://hook.example:${receiver.port}/`, { policy, timeoutMs: LONG });
    expect(lookup).toHaveBeenCalledTimes(1);
  });

  it.each(['http', 'https'])(
    'is caught at the other end of an open connection, before a byte of %s is sent (SSRF-05)',
    async (scheme) => {
      for (const host of ['hook.example', '127.0.0.1']) {
        const receiver = await start(startRawReceiver(() => {}));
        const policy = new TurningPolicy({ lookup: async () => ['127.0.0.1'] });
        await expect(
          guardedRequest(`${scheme}://${host}:${receiver.port}/`, {
            policy,
            method: 'POST',
            body: 'secret',
            timeoutMs: LONG,
          }),
        ).rejects.toBeInstanceOf(TargetRefusedError);
        await until(() => receiver.connections === 1 && receiver.open === 0, 'The end of the connection');
        expect(receiver.bytesReceived).toBe(0);
      }
    },
  );

  it('gets no connection from a look-up that comes back after the deadline', async () => {
    const receiver = await start(startReceiver(ok));
    let release: (addresses: readonly string[]) => void = () => {};
    const late = new Promise<readonly string[]>((resolve) => (release = resolve));
    const policy = new PublicTargetPolicy({ allowPrivate: true, lookup: async () => late });
    await expect(
      guardedRequest(`http://hook.example:${receiver.port}/`, { policy, timeoutMs: SHORT }),
    ).rejects.toBeInstanceOf(RequestTimeoutError);
    release(['127.0.0.1']);
    // A request that is made after it goes through, so the late one would have been seen.
    await guardedRequest(`http://127.0.0.1:${receiver.port}/`, { policy, timeoutMs: LONG });
    expect(receiver.connections).toBe(1);
  });
});

describe('A redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'of status %i is an answer and is not followed (B-89, PUSH-09)',
    async (status) => {
      const internal = await start(startReceiver(ok));
      const receiver = await start(
        startReceiver((request, response) => {
          request.resume();
          response.writeHead(status, { location: `http://127.0.0.1:${internal.port}/latest/meta-data/` }).end();
        }),
      );
      const url = `http://hook.example:${receiver.port}/`;
      // The last one finds the receiver by itself.
      for (const agent of [undefined, new Agent(), leadingTo(receiver)]) {
        const answer = await guardedRequest(url, {
          policy: open('127.0.0.1'),
          method: 'POST',
          body: '{}',
          timeoutMs: LONG,
          ...(agent && { agent }),
        });
        expect(answer.status).toBe(status);
      }
      expect(internal.connections).toBe(0);
    },
  );
});

describe('The deadline', () => {
  const speakers: Readonly<Record<string, (socket: Socket) => void>> = {
    'accepts and never answers': () => {},
    'sends its headers byte by byte': (socket) => {
      drip(socket, 'HTTP/1.1 200 OK\r\n', 'x');
    },
    'sends its body byte by byte': (socket) => {
      drip(socket, 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n', 'x');
    },
    'sends informational answers without end': (socket) => {
      drip(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n');
    },
    'keeps a finished body open': (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx');
    },
  };

  it.each(Object.entries(speakers))('ends a request to a receiver that %s (PUSH-08)', async (_name, speak) => {
    const receiver = await start(startRawReceiver(speak));
    const failure = guardedRequest(`http://hook.example:${receiver.port}/`, {
      policy: open('127.0.0.1'),
      timeoutMs: SHORT,
    });
    await expect(failure).rejects.toBeInstanceOf(RequestTimeoutError);
    await expect(failure).rejects.toMatchObject({ timeoutMs: SHORT });
    await until(() => receiver.open === 0, 'The end of the connection');
  });

  it('ends a TLS handshake that is never answered (PUSH-08)', async () => {
    const receiver = await start(startRawReceiver(() => {}));
    await expect(
      guardedRequest(`https://hook.example:${receiver.port}/`, { policy: open('127.0.0.1'), timeoutMs: SHORT }),
    ).rejects.toBeInstanceOf(RequestTimeoutError);
    await until(() => receiver.connections === 1 && receiver.open === 0, 'The end of the connection');
  });

  it('ends the wait for a look-up that never ends (PUSH-08)', async () => {
    const policy = new PublicTargetPolicy({ lookup: async () => new Promise(() => {}) });
    await expect(guardedRequest('http://hook.example/', { policy, timeoutMs: SHORT })).rejects.toBeInstanceOf(
      RequestTimeoutError,
    );
  });

  it.each(['connect', 'answer'])(
    'ends a request whose own agent never gets to %s (PUSH-08, PUSH-13)',
    async (stage) => {
      const receiver = await start(startRawReceiver(() => {}));
      const agent = stage === 'connect' ? new StuckAgent() : leadingTo(receiver);
      await expect(
        guardedRequest('http://hook.example/', { policy: open('127.0.0.1'), agent, timeoutMs: SHORT }),
      ).rejects.toBeInstanceOf(RequestTimeoutError);
      await until(() => receiver.open === 0, 'The end of the connection');
    },
  );

  it('is ten seconds when nothing else is said (PUSH-08)', async () => {
    jest.useFakeTimers();
    try {
      const policy = new PublicTargetPolicy({ lookup: async () => new Promise(() => {}) });
      const failure = guardedRequest('http://hook.example/', { policy }).catch((error: unknown) => error);
      let isDone = false;
      void failure.then(() => (isDone = true));
      await jest.advanceTimersByTimeAsync(9_999);
      expect(isDone).toBe(false);
      await jest.advanceTimersByTimeAsync(1);
      expect(await failure).toMatchObject({ name: 'RequestTimeoutError', timeoutMs: 10_000 });
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('The signal of the caller', () => {
  it('ends a request with its reason, and with it the connection', async () => {
    const controller = new AbortController();
    const reason = new Error('The process is shutting down.');
    const receiver = await start(
      startReceiver(() => {
        controller.abort(reason);
      }),
    );
    await expect(
      guardedRequest(`http://hook.example:${receiver.port}/`, {
        policy: open('127.0.0.1'),
        signal: controller.signal,
        timeoutMs: LONG,
      }),
    ).rejects.toBe(reason);
    await until(() => receiver.open === 0, 'The end of the connection');
  });

  it('keeps a request from being made when it has aborted before', async () => {
    const lookup = jest.fn<NameLookup>();
    const policy = new PublicTargetPolicy({ lookup });
    const reason = new Error('Too late.');
    await expect(guardedRequest('http://hook.example/', { policy, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(lookup).not.toHaveBeenCalled();
  });
});

describe('The body of an answer', () => {
  it('is read to the bound and no further, which is no error (PUSH-10a, S-18)', async () => {
    const receiver = await start(
      startReceiver((request, response) => {
        request.resume();
        response.writeHead(200, { 'content-length': 10_000_000 }).end(Buffer.alloc(10_000_000, 'x'));
      }),
    );
    const answer = await guardedRequest(`http://hook.example:${receiver.port}/`, {
      policy: open('127.0.0.1'),
      timeoutMs: LONG,
    });
    expect(answer).toMatchObject({ status: 200, isTruncated: true });
    expect(answer.body.length).toBe(65_536);
    // Nothing of what came with it is kept.
    expect(answer.body.buffer.byteLength).toBeLessThan(2 * 65_536);
    await until(() => receiver.open === 0, 'The end of the connection');
  });

  it('may be without end (PUSH-10a)', async () => {
    let sent = 0;
    const receiver = await start(
      startReceiver((request, response) => {
        request.resume();
        const pour = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384))) sent += 16_384;
        };
        response.on('drain', pour);
        pour();
      }),
    );
    const answer = await guardedRequest(`http://hook.example:${receiver.port}/`, {
      policy: open('127.0.0.1'),
      maxResponseBytes: 1_000,
      timeoutMs: LONG,
    });
    expect(answer).toMatchObject({ status: 200, isTruncated: true });
    expect(answer.body.length).toBe(1_000);
    await until(() => receiver.open === 0, 'The end of the connection');
    // The buffers of both ends, and no stream that was read on.
    expect(sent).toBeLessThan(50_000_000);
  });

  it('may be as long as the bound', async () => {
    const receiver = await start(startReceiver(ok));
    const url = `http://hook.example:${receiver.port}/`;
    const policy = open('127.0.0.1');
    expect(await guardedRequest(url, { policy, maxResponseBytes: 2, timeoutMs: LONG })).toMatchObject({
      body: Buffer.from('ok'),
      isTruncated: false,
    });
    expect(await guardedRequest(url, { policy, maxResponseBytes: 1, timeoutMs: LONG })).toMatchObject({
      body: Buffer.from('o'),
      isTruncated: true,
    });
  });
});

describe('A receiver that breaks off', () => {
  const speakers: Readonly<Record<string, (socket: Socket) => void>> = {
    'at once': (socket) => socket.destroy(),
    'with a reset': (socket) => socket.resetAndDestroy(),
    'within the headers': (socket) => socket.end('HTTP/1.1 200 OK\r\nX-'),
    'within the body': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx'),
    'within a chunk': (socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nx'),
    'after switching protocols': (socket) =>
      socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    'with what is not HTTP': (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
    'with headers that are too long': (socket) => socket.end(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`),
  };

  it.each(Object.entries(speakers))('%s is an error of the request', async (_name, speak) => {
    const receiver = await start(
      startRawReceiver((socket) => {
        socket.once('data', () => {
          speak(socket);
        });
      }),
    );
    const failure = await guardedRequest(`http://hook.example:${receiver.port}/`, {
      policy: open('127.0.0.1'),
      timeoutMs: LONG,
    }).catch((error: unknown) => error);
    expect(failure).toHaveProperty('message', expect.any(String));
    expect(failure).not.toBeInstanceOf(RequestTimeoutError);
  });

  it('before anything listens is an error of the connection', async () => {
    const receiver = await startReceiver(ok);
    await receiver.close();
    await expect(
      guardedRequest(`http://127.0.0.1:${receiver.port}/`, { policy: open(), timeoutMs: LONG }),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('A connection', () => {
  it('serves one request, also when the receiver and the agent would keep it (SSRF-09a)', async () => {
    const receiver = await start(startReceiver(ok));
    const agent = new Agent({ keepAlive: true });
    for (let count = 1; count <= 3; count += 1) {
      await guardedRequest(`http://hook.example:${receiver.port}/`, {
        policy: open('127.0.0.1'),
        agent,
        headers: { connection: 'keep-alive' },
        timeoutMs: LONG,
      });
      expect(receiver.connections).toBe(count);
    }
    await until(() => receiver.open === 0, 'The end of the connections');
    expect(agent.freeSockets).toEqual({});
  });
});

describe('TLS', () => {
  const trusting = new SecureAgent({ ca: TLS_IDENTITY.cert });

  it.each(['hook.example', '127.0.0.1'])('is spoken with %s, whose certificate is verified', async (host) => {
    const receiver = await start(startSecureReceiver(ok));
    const answer = await guardedRequest(`https://${host}:${receiver.port}/`, {
      policy: open('127.0.0.1'),
      agent: trusting,
      timeoutMs: LONG,
    });
    expect(answer.status).toBe(200);
  });

  it('is refused with a certificate that nobody vouches for, or that is another host’s', async () => {
    const receiver = await start(startSecureReceiver(ok));
    const policy = open('127.0.0.1');
    await expect(
      guardedRequest(`https://hook.example:${receiver.port}/`, { policy, timeoutMs: LONG }),
    ).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    await expect(
      guardedRequest(`https://other.example:${receiver.port}/`, { policy, agent: trusting, timeoutMs: LONG }),
    ).rejects.toMatchObject({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
  });

  it('is verified also when the environment says otherwise', async () => {
    const receiver = await start(startSecureReceiver(ok));
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await expect(
        guardedRequest(`https://hook.example:${receiver.port}/`, { policy: open('127.0.0.1'), timeoutMs: LONG }),
      ).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });
});

describe('An agent of the host', () => {
  it('that is plain is guarded like none (PUSH-13)', async () => {
    const receiver = await start(startReceiver(ok));
    const policy = new TurningPolicy({ lookup: async () => ['127.0.0.1'] });
    await expect(
      guardedRequest(`http://hook.example:${receiver.port}/`, { policy, agent: new Agent(), timeoutMs: LONG }),
    ).rejects.toBeInstanceOf(TargetRefusedError);
    await until(() => receiver.connections === 1 && receiver.open === 0, 'The end of the connection');
    expect(receiver.bytesReceived).toBe(0);
  });

  it('that is plain lends its options to the connection (PUSH-13)', async () => {
    const from: (string | undefined)[] = [];
    const receiver = await start(
      startReceiver((request, response) => {
        from.push(request.socket.remoteAddress);
        ok(request, response);
      }),
    );
    const agent = new Agent({ localAddress: '127.0.0.9', family: 4, timeout: 1, keepAlive: true });
    await guardedRequest(`http://hook.example:${receiver.port}/`, {
      policy: open('::1', '127.0.0.1'),
      agent,
      timeoutMs: LONG,
    });
    expect(from).toEqual(['127.0.0.9']);
  });

  it('that finds its own way keeps it, once the host was checked (SSRF-07, PUSH-13)', async () => {
    const proxy = await start(startReceiver(ok));
    const agent = leadingTo(proxy);
    const addresses = [['8.8.8.8'], ['10.0.0.1']];
    const policy = new PublicTargetPolicy({ lookup: async () => addresses.shift()! });
    expect((await guardedRequest('http://hook.example/', { policy, agent, timeoutMs: LONG })).status).toBe(200);
    await expect(guardedRequest('http://hook.example/', { policy, agent, timeoutMs: LONG })).rejects.toBeInstanceOf(
      TargetRefusedError,
    );
    expect(proxy.connections).toBe(1);
  });
});

/** An agent that goes to a receiver whatever the host of the URL is, as one with a proxy does. */
function leadingTo({ port }: Receiver): Agent {
  return new (class extends Agent {
    override createConnection(): Socket {
      return connect(port, '127.0.0.1');
    }
  })();
}

class StuckAgent extends Agent {
  override createConnection(): undefined {
    return undefined;
  }
}

/** Writes a text, then another one again and again until the connection ends. */
function drip(socket: Socket, first: string, rest: string): void {
  socket.write(first);
  const timer = setInterval(() => socket.write(rest), 5);
  socket.on('close', () => {
    clearInterval(timer);
  });
}
