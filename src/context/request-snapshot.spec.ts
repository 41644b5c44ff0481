import { describe, expect, it } from '@jest/globals';
import { currentA2ARequest, runWithA2ARequest, snapshotRequest } from './request-snapshot.js';

describe('The snapshot of a request', () => {
  it('keeps method, URL, headers, address and user of an Express request (CTX-02a)', () => {
    const user = { sub: 'alice' };
    const request = { method: 'POST', originalUrl: '/api/a2a', url: '/a2a', headers: { 'x-a': 'b' }, ip: '::1', user };
    expect(snapshotRequest(request)).toEqual({
      method: 'POST',
      url: '/api/a2a',
      headers: { 'x-a': 'b' },
      ip: '::1',
      user,
    });
  });

  it('keeps what a bare request has', () => {
    expect(snapshotRequest({ method: 'POST', url: '/a2a', headers: {} })).toMatchObject({
      url: '/a2a',
      user: undefined,
    });
    expect(snapshotRequest({})).toMatchObject({ method: '', url: '', headers: {} });
  });

  it('does not change with the request, and cannot be changed (CTX-02a, DM-15)', () => {
    const request = { method: 'POST', url: '/a2a', headers: { authorization: 'Bearer a' } };
    const snapshot = snapshotRequest(request);
    request.headers.authorization = 'Bearer b';
    request.method = 'GET';
    expect(snapshot).toMatchObject({ method: 'POST', headers: { authorization: 'Bearer a' } });
    expect(Object.isFrozen(snapshot) && Object.isFrozen(snapshot.headers)).toBe(true);
  });
});

describe('The current request', () => {
  const snapshot = snapshotRequest({ method: 'POST', url: '/a2a' });

  it('is that of the run in whose async context one is, and none outside of runs (CTX-02b)', async () => {
    expect(currentA2ARequest()).toBeUndefined();
    const seen = await runWithA2ARequest(snapshot, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return currentA2ARequest();
    });
    expect(seen).toBe(snapshot);
    expect(currentA2ARequest()).toBeUndefined();
  });

  it('is not mixed up among runs side by side (CTX-02b)', async () => {
    const snapshots = ['/a', '/b', '/c'].map((url) => snapshotRequest({ url }));
    const seen = await Promise.all(
      snapshots.map((each) =>
        runWithA2ARequest(each, async () => {
          await new Promise((resolve) => setImmediate(resolve));
          return currentA2ARequest();
        }),
      ),
    );
    expect(seen).toEqual(snapshots);
  });
});
