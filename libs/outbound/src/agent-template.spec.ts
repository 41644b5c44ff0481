import { describe, expect, it } from '@jest/globals';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { templateOf } from './agent-template.js';

const lookup: LookupFunction = (_hostname, _options, callback) => {
  callback(null, '127.0.0.1', 4);
};

describe('The template that an agent is', () => {
  it('has the options of a plain agent that concern a connection (PUSH-13)', () => {
    const agent = new SecureAgent({ keepAlive: true, timeout: 5, ca: 'a certificate', minVersion: 'TLSv1.3' });
    expect(templateOf(agent)).toEqual({ ca: 'a certificate', minVersion: 'TLSv1.3', noDelay: true });
    expect(templateOf(new Agent())).toEqual({ noDelay: true });
  });

  it.each(Object.entries(agents()))('is none for an agent %s (SSRF-07)', (_name, agent) => {
    expect(templateOf(agent)).toBeUndefined();
  });
});

function agents(): Readonly<Record<string, Agent>> {
  const patched = new Agent();
  patched.destroy = () => {};
  return {
    'of a class of its own': new (class extends Agent {})(),
    'of a secure class of its own': new (class extends SecureAgent {})(),
    'with a method of its own': patched,
    'with a look-up': new Agent({ lookup }),
    'with a way to connect': new Agent({ createConnection: () => undefined } as object),
    'with a socket path': new Agent({ socketPath: '/run/proxy.sock' } as object),
    'with a proxy': new Agent({ proxyEnv: { HTTP_PROXY: 'http://127.0.0.1:1' } } as object),
  };
}
