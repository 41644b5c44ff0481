import { describe, expect, it } from '@jest/globals';
import {
  eventBytes,
  rewritten,
  sha256,
  signatureOf,
  trusted,
  type Forgery,
} from '../../../../test/support/notifications.js';
import { jwkOf, keyPair, SIGNING_ALGORITHMS } from '../../../../test/support/signing-keys.js';
import { MemoryReplayStore } from './memory-replay-store.js';
import { NotificationRefusedError } from './notification-refused-error.js';
import { NotificationVerifier } from './notification-verifier.js';
import type { NotificationVerifierOptions } from './notification-verifier.options.js';
import { ReplayStore, ReplayStoreFullError } from './replay-store.js';

const NOW = Date.UTC(2026, 0, 1);
const TOKEN = 'a token';
const { privateKey, publicKey } = keyPair('ES256');
const stranger = keyPair('ES256');
const keys = { keys: [trusted(publicKey)] };
const isExpected = (taskId: string): boolean => taskId === 'mine' || taskId === 'other';

function verifierOf(options: Partial<NotificationVerifierOptions> = {}): NotificationVerifier {
  return new NotificationVerifier({ keys, isExpected, now: () => NOW, ...options });
}

/** A notification of the agent, but for what is said. */
async function notification(forgery: Forgery = {}, { taskId = 'mine', key = privateKey } = {}) {
  const body = eventBytes(taskId);
  const jwt = await signatureOf(key, { taskId, body, now: NOW }, forgery);
  return { body, headers: { 'a2a-notification-signature': jwt, 'a2a-notification-token': TOKEN } };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!(error instanceof NotificationRefusedError)) throw new Error(`It was not refused: ${String(error)}`);
  return error.code;
}

/** Counts what is asked of it. */
class CountingStore extends ReplayStore {
  readonly asked: string[] = [];

  remember(id: string): boolean {
    this.asked.push(id);
    return true;
  }
}

describe('a signed notification (§13.2, S-11)', () => {
  it('is accepted, and says which task and what', async () => {
    const verified = await verifierOf().verify(await notification({ claims: { jti: 'j' } }));
    expect(verified).toEqual({
      taskId: 'mine',
      jti: 'j',
      event: { statusUpdate: { taskId: 'mine', contextId: 'ä', status: { state: 'TASK_STATE_WORKING' } } },
    });
  });

  it.each(SIGNING_ALGORITHMS)('may be signed with %s', async (alg) => {
    const pair = keyPair(alg);
    const verifier = verifierOf({ keys: { keys: [trusted(pair.publicKey)] } });
    const good = await notification({ header: { alg } }, { key: pair.privateKey });
    expect(await verifier.verify(good)).toMatchObject({ taskId: 'mine' });
  });

  it('may come with the headers of the web', async () => {
    const { headers, body } = await notification();
    expect(await verifierOf({ token: TOKEN }).verify({ headers: new Headers(headers), body })).toMatchObject({
      taskId: 'mine',
    });
  });

  it('is accepted once, by one verifier or two that share their memory', async () => {
    const replays = new MemoryReplayStore({ now: () => NOW });
    const [one, other] = [verifierOf({ replays }), verifierOf({ replays })];
    const captured = await notification();
    await one.verify(captured);
    expect(await codeOf(one.verify(captured))).toBe('replayed');
    expect(await codeOf(other.verify(captured))).toBe('replayed');
    expect(await one.verify(await notification())).toMatchObject({ taskId: 'mine' });
  });

  it('is refused when its body was held back until nobody remembers it any more', async () => {
    let now = NOW;
    const verifier = verifierOf({ now: () => now });
    const { headers, body } = await notification();
    const late = async () => {
      now += 200_000;
      return body;
    };
    await expect(verifier.verify({ headers, body: late })).resolves.toBeDefined();
    expect(await codeOf(verifier.verify({ headers, body: late }))).toBe('expired');
  });

  it('is accepted once when it comes twice at the same time', async () => {
    const verifier = verifierOf();
    const captured = await notification();
    const results = await Promise.allSettled([verifier.verify(captured), verifier.verify(captured)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is refused as long as it could be replayed: it is remembered until its age refuses it', async () => {
    let now = NOW;
    const verifier = verifierOf({ now: () => now });
    const captured = await notification({ claims: { iat: NOW / 1_000 + 30 } });
    await verifier.verify(captured);
    now = NOW + 330_000;
    expect(await codeOf(verifier.verify(captured))).toBe('replayed');
    now = NOW + 330_001;
    expect(await codeOf(verifier.verify(captured))).toBe('expired');
  });

  it.each([
    [-300, undefined],
    [-301, 'expired'],
    [30, undefined],
    [31, 'expired'],
    [1e300, 'expired'],
  ])('signed %d seconds from now is %s', async (seconds, code) => {
    const promise = notification({ claims: { iat: NOW / 1_000 + seconds } }).then((it) => verifierOf().verify(it));
    if (code === undefined) await expect(promise).resolves.toMatchObject({ taskId: 'mine' });
    else expect(await codeOf(promise)).toBe(code);
  });

  it('may be older and ahead as far as the options say', async () => {
    const verifier = verifierOf({ maxAgeMs: 1_000, clockToleranceMs: 2_000 });
    const at = async (seconds: number) =>
      verifier.verify(await notification({ claims: { iat: NOW / 1_000 + seconds } }));
    await expect(at(-1)).resolves.toBeDefined();
    await expect(at(2)).resolves.toBeDefined();
    expect(await codeOf(at(-2))).toBe('expired');
    expect(await codeOf(at(3))).toBe('expired');
  });

  it.each([
    ['another byte', Buffer.concat([eventBytes('mine'), Buffer.from(' ')])],
    ['another task', eventBytes('other')],
    ['nothing', Buffer.alloc(0)],
  ])('over another body is refused: %s', async (_what, body) => {
    const { headers } = await notification();
    expect(await codeOf(verifierOf().verify({ headers, body }))).toBe('body');
  });

  it('over the task of another body is refused', async () => {
    expect(await codeOf(verifierOf().verify(await notification({ claims: { task_id: 'other' } })))).toBe('task');
  });

  it('about a task that is none of ours is refused', async () => {
    expect(await codeOf(verifierOf().verify(await notification({}, { taskId: 'theirs' })))).toBe('task');
  });

  it('is not remembered when it is refused, nor when we fail', async () => {
    const replays = new CountingStore();
    let fails = true;
    const verifier = verifierOf({
      replays,
      isExpected: (taskId) => {
        if (fails) throw new Error('down');
        return isExpected(taskId);
      },
    });
    const good = await notification({ claims: { jti: 'j' } });
    await expect(verifier.verify(good)).rejects.toThrow('down');
    fails = false;
    await codeOf(verifier.verify(await notification({}, { taskId: 'theirs' })));
    expect(replays.asked).toEqual([]);
    await verifier.verify(good);
    expect(replays.asked).toEqual(['j']);
  });

  it('is refused when the memory is full, and not at the cost of another', async () => {
    const verifier = verifierOf({ replays: new MemoryReplayStore({ maxEntries: 1, now: () => NOW }) });
    const first = await notification();
    await verifier.verify(first);
    await expect(verifier.verify(await notification())).rejects.toThrow(ReplayStoreFullError);
    expect(await codeOf(verifier.verify(first))).toBe('replayed');
  });
});

describe('a signature that proves nothing (S-10)', () => {
  const refused = async (jwt: string | readonly string[], options: Partial<NotificationVerifierOptions> = {}) => {
    const body = eventBytes('mine');
    return codeOf(verifierOf(options).verify({ body, headers: { 'A2A-Notification-Signature': jwt } }));
  };
  const jwtOf = async (forgery: Forgery = {}, key = privateKey) =>
    (await notification(forgery, { key })).headers['a2a-notification-signature'];
  const header = { kid: 'k', typ: 'a2a-notification+jwt' };

  it('is that of a stranger', async () => {
    expect(await refused(await jwtOf({}, stranger.privateKey))).toBe('signature');
  });

  it('is one of a stranger who brings his own key', async () => {
    const jwk = jwkOf(stranger.publicKey);
    expect(await refused(await jwtOf({ header: { jwk, jku: 'https://evil.example/' } }, stranger.privateKey))).toBe(
      'signature',
    );
  });

  it.each(['none', 'None', 'NONE', ''])('has the alg %j', async (alg) => {
    expect(await refused(rewritten(await jwtOf(), { ...header, alg }))).toBe('signature');
    expect(await refused(rewritten(await jwtOf(), { ...header, alg }, 'x'))).toBe('signature');
  });

  it.each(['HS256', 'HS384', 'HS512'])('is made by %s with the public key for a secret', async (alg) => {
    const secrets = [
      publicKey.export({ format: 'pem', type: 'spki' }),
      publicKey.export({ format: 'der', type: 'spki' }),
      JSON.stringify(jwkOf(publicKey)),
      Buffer.from(jwkOf(publicKey).x!, 'base64url'),
    ];
    for (const secret of secrets) {
      expect(await refused(rewritten(await jwtOf(), { ...header, alg }, secret))).toBe('signature');
    }
  });

  it('is made with a shared secret that stands among the keys', async () => {
    const secret = Buffer.alloc(32, 7);
    const oct = { kty: 'oct', k: secret.toString('base64url'), kid: 'k' };
    const jwt = rewritten(await jwtOf(), { ...header, alg: 'HS256' }, secret);
    expect(await refused(jwt, { keys: { keys: [oct] } })).toBe('signature');
  });

  it.each(['JWT', 'at+jwt', 'JOSE', 'application/a2a-notification+jwt', undefined, 5])(
    'is a token of the same key with the typ %j',
    async (typ) => {
      expect(await refused(await jwtOf({ header: { typ } }))).toBe('signature');
    },
  );

  it.each(['unknown', '', undefined, 5])('has the kid %j', async (kid) => {
    expect(await refused(await jwtOf({ header: { kid } }))).toBe('signature');
  });

  it('has an alg that the key is not for', async () => {
    expect(await refused(await jwtOf(), { keys: { keys: [trusted(publicKey, { kid: 'k', alg: 'ES384' })] } })).toBe(
      'signature',
    );
  });

  it.each([{ use: 'enc' }, { key_ops: ['sign'] }, { revoked: {} }, { exp: 1 }, { x: 5 }])(
    'is made with a key that says %j of itself',
    async (fields) => {
      expect(await refused(await jwtOf(), { keys: { keys: [trusted(publicKey, { kid: 'k', ...fields })] } })).toBe(
        'signature',
      );
    },
  );

  it('asks for an extension of JWS', async () => {
    const [, ...rest] = (await jwtOf()).split('.');
    const critical = { ...header, alg: 'ES256', crit: ['exp'], exp: 1 };
    expect(await refused([Buffer.from(JSON.stringify(critical)).toString('base64url'), ...rest].join('.'))).toBe(
      'signature',
    );
  });

  it.each([
    { iat: undefined },
    { iat: '1' },
    { jti: undefined },
    { jti: '' },
    { jti: 'x'.repeat(257) },
    { jti: ['j'] },
    { task_id: undefined },
    { body_sha256: undefined },
  ])('lacks a claim: %j', async (claims) => {
    expect(await refused(await jwtOf({ claims }))).toBe('signature');
  });

  it.each(['', '.', '..', 'a.b.c', 'x', '{}', 'e30.e30.', 'bnVsbA..', 'ä.ä.ä'])('is no JWT: %j', async (jwt) => {
    expect(await refused(jwt)).toBe('signature');
  });

  it('stands there twice', async () => {
    expect(await refused([await jwtOf(), await jwtOf()])).toBe('signature');
  });

  it('makes nobody read the body, ask for the task, or remember', async () => {
    const asked: string[] = [];
    const replays = new CountingStore();
    const verifier = verifierOf({ replays, isExpected: (taskId) => asked.push(taskId) > 0 });
    const body = async (): Promise<Uint8Array> => {
      asked.push('body');
      return eventBytes('mine');
    };
    const forged = await jwtOf({}, stranger.privateKey);
    for (const jwt of [forged, 'x', await jwtOf({ claims: { iat: 0 } })]) {
      await codeOf(verifier.verify({ headers: { 'a2a-notification-signature': jwt }, body }));
    }
    await codeOf(verifier.verify({ headers: {}, body }));
    expect([asked, replays.asked]).toEqual([[], []]);
  });
});

describe('the key set of the agent', () => {
  const jwksUrl = 'https://agent.example/.well-known/jwks.json';

  it('is trusted for the kids that are not pinned', async () => {
    const asked: string[] = [];
    const fetchJwks = async (url: URL) => {
      asked.push(url.href);
      return { keys: [trusted(publicKey, { kid: 'new' }), trusted(stranger.publicKey)] };
    };
    const verifier = verifierOf({ jwksUrl, fetchJwks });
    await expect(verifier.verify(await notification({ header: { kid: 'new' } }))).resolves.toBeDefined();
    expect(await codeOf(verifier.verify(await notification({ header: { kid: 'other' } })))).toBe('signature');
    // The set cannot bring another key of a name that is pinned.
    expect(await codeOf(verifier.verify(await notification({}, { key: stranger.privateKey })))).toBe('signature');
    expect(asked).toEqual([jwksUrl]);
  });

  it('makes no signature good when it cannot be read, and the refusal says why', async () => {
    const cause = new Error('down');
    const verifier = verifierOf({ keys: undefined as never, jwksUrl, fetchJwks: () => Promise.reject(cause) });
    const error = await verifier.verify(await notification()).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'signature', cause: { cause } });
  });
});

describe('a notification without a signature', () => {
  const unsigned = (headers: Record<string, string> = {}, body = eventBytes('mine')) => ({ headers, body });

  it('is refused where there are keys', async () => {
    expect(await codeOf(verifierOf().verify(unsigned()))).toBe('unsigned');
    expect(await codeOf(verifierOf({ token: TOKEN }).verify(unsigned({ 'a2a-notification-token': TOKEN })))).toBe(
      'unsigned',
    );
  });

  it('is accepted by its token where signatures are not required, and is no replay', async () => {
    const verifier = verifierOf({ token: TOKEN, requireSignature: false });
    const one = unsigned({ 'A2A-Notification-Token': TOKEN });
    expect(await verifier.verify(one)).not.toHaveProperty('jti');
    await expect(verifier.verify(one)).resolves.toBeDefined();
    const forged = await notification({}, { key: stranger.privateKey });
    expect(await codeOf(verifier.verify(forged))).toBe('signature');
  });

  it.each<[string, Partial<NotificationVerifierOptions>]>([
    ['neither token nor keys', { keys: undefined as never }],
    ['an empty token', { token: '' }],
    ['keys that nobody has to use', { requireSignature: false }],
    ['signatures without keys', { keys: undefined as never, token: TOKEN, requireSignature: true }],
    ['a key set without TLS', { jwksUrl: 'http://keys.example/' }],
    ['a key set with a password', { jwksUrl: 'https://a:b@keys.example/' }],
    ['an age without end', { maxAgeMs: Infinity }],
    ['a tolerance that is no number', { clockToleranceMs: NaN }],
  ])('has no verifier that would believe everybody: %s', (_what, options) => {
    expect(() => verifierOf(options)).toThrow(TypeError);
  });
});

describe('the token (R-18, S-05)', () => {
  const withToken = (token: string | undefined, taskId = 'mine', name = 'a2a-notification-token') => ({
    headers: { [name]: token },
    body: eventBytes(taskId),
  });
  const byToken = { keys: undefined as never, token: TOKEN };

  it.each([undefined, '', 'a', 'a tokem', 'A token', 'a token ', `${TOKEN}, ${TOKEN}`, 'x'.repeat(10_000)])(
    'is refused when it is %j',
    async (token) => {
      expect(await codeOf(verifierOf(byToken).verify(withToken(token)))).toBe('token');
      const perTask = verifierOf({ ...byToken, token: () => TOKEN });
      expect(await codeOf(perTask.verify(withToken(token)))).toBe('token');
    },
  );

  it('may be in another header, as credentials are', async () => {
    const verifier = verifierOf({ ...byToken, token: 'Bearer x', tokenHeader: 'Authorization' });
    await expect(verifier.verify(withToken('Bearer x', 'mine', 'authorization'))).resolves.toBeDefined();
    expect(await codeOf(verifier.verify(withToken('Bearer x')))).toBe('token');
  });

  it('may be one of each task, and is then good for no other', async () => {
    const verifier = verifierOf({
      ...byToken,
      token: async (taskId) => (isExpected(taskId) ? `for ${taskId}` : undefined),
    });
    await expect(verifier.verify(withToken('for mine'))).resolves.toMatchObject({ taskId: 'mine' });
    await expect(verifier.verify(withToken('for other', 'other'))).resolves.toMatchObject({ taskId: 'other' });
    expect(await codeOf(verifier.verify(withToken('for mine', 'other')))).toBe('token');
  });

  it('that is wrong does not tell whose task it is', async () => {
    const asked: string[] = [];
    const verifier = verifierOf({
      ...byToken,
      token: (taskId) => (taskId === 'mine' ? 'right' : undefined),
      isExpected: (taskId) => asked.push(taskId) > 0,
    });
    for (const [token, taskId] of [
      ['wrong', 'mine'],
      ['wrong', 'theirs'],
      ['', 'theirs'],
      ['undefined', 'theirs'],
    ]) {
      const error = await verifier.verify(withToken(token, taskId)).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: 'token', message: 'The token is missing, or another.' });
    }
    expect(asked).toEqual([]);
  });

  it('is needed beside a signature, when both are asked for', async () => {
    const { headers, body } = await notification();
    const verifier = verifierOf({ token: TOKEN });
    expect(await codeOf(verifier.verify({ body, headers: { ...headers, 'a2a-notification-token': 'other' } }))).toBe(
      'token',
    );
    await expect(verifier.verify({ body, headers })).resolves.toBeDefined();
  });

  it('is told by no refusal', async () => {
    const secret = 'marker-7f3a';
    const error = await verifierOf({ ...byToken, token: secret })
      .verify(withToken(`${secret}x`))
      .catch((caught: unknown) => caught);
    expect(JSON.stringify([error, (error as Error).message])).not.toContain('marker');
  });
});

describe('the body (§4.3.3)', () => {
  const verify = (body: Uint8Array | string) =>
    verifierOf({ keys: undefined as never, token: TOKEN }).verify({
      headers: { 'a2a-notification-token': TOKEN },
      body: Buffer.from(body),
    });
  const json = (value: unknown): string => JSON.stringify(value);
  const status = { state: 'TASK_STATE_COMPLETED' };
  const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'x' }] };

  it.each([
    { task: { id: 'mine', contextId: 'c', status } },
    { message: { ...message, taskId: 'mine' } },
    { statusUpdate: { taskId: 'mine', contextId: 'c', status } },
    { artifactUpdate: { taskId: 'mine', contextId: 'c', artifact: { artifactId: 'a', parts: [] } } },
  ])('is one of four, and names the task: %j', async (event) => {
    expect(await verify(json(event))).toEqual({ taskId: 'mine', event });
  });

  it('may have fields that nobody knows (§5.7)', async () => {
    expect((await verify(eventBytes('mine', { more: 1 }))).event).not.toHaveProperty('more');
  });

  it.each([
    '',
    'null',
    '[]',
    '{',
    '{}',
    json({ message }),
    json({ task: { id: 'mine', status }, message: { ...message, taskId: 'mine' } }),
    json({ jsonrpc: '2.0', result: { task: { id: 'mine', status } } }),
    json({ task: { id: 'mine', status: { state: 'completed' } } }),
    '{"task":1,"task":2}',
  ])('is refused when it is %j', async (body) => {
    expect(await codeOf(verify(body))).toBe('malformed');
  });

  it('is refused when it is no UTF-8', async () => {
    expect(await codeOf(verify(Buffer.from([0x7b, 0xff, 0x7d])))).toBe('malformed');
  });
});

describe('a hash that is given', () => {
  it('is that of the bytes, not of the text', async () => {
    const body = eventBytes('mine');
    const text = Buffer.from(body.toString('latin1'), 'utf8');
    expect(sha256(text)).not.toBe(sha256(body));
    const { headers } = await notification({ claims: { body_sha256: sha256(text) } });
    expect(await codeOf(verifierOf().verify({ headers, body }))).toBe('body');
  });
});
