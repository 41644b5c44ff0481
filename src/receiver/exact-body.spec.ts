import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { BadRequestException, PayloadTooLargeException } from '@nestjs/common';
import { A2AConfigurationError } from '../context/configuration.error.js';
import { exactBody } from './exact-body.js';

const bytes = Buffer.from('{"a":"ä"}');

describe('the bytes of a request (§4.3.3)', () => {
  it('are read when nobody has read them', async () => {
    const request = new PassThrough();
    const body = exactBody(request, bytes.length);
    request.write(bytes.subarray(0, 6));
    request.end(bytes.subarray(6));
    expect(await body).toEqual(bytes);
  });

  it('are those that a parser has kept, and no others', async () => {
    const raw = new PassThrough();
    expect(await exactBody({ raw, rawBody: bytes, body: { a: 'ä' } }, 100)).toBe(bytes);
    expect(await exactBody({ raw, body: bytes }, 100)).toBe(bytes);
    await expect(exactBody({ raw, rawBody: bytes }, bytes.length - 1)).rejects.toThrow(PayloadTooLargeException);
  });

  it.each([{ a: 'ä' }, '{"a":"ä"}', null, undefined])('are not made up from what was parsed: %j', async (body) => {
    const raw = new PassThrough();
    raw.end(bytes);
    raw.resume();
    await new Promise((resolve) => raw.once('end', resolve));
    await expect(exactBody({ raw, body }, 100)).rejects.toThrow(A2AConfigurationError);
  });

  it('are not kept beyond the cap, however much comes', async () => {
    const request = new PassThrough();
    const body = exactBody(request, 10);
    request.write(Buffer.alloc(11));
    await expect(body).rejects.toThrow(PayloadTooLargeException);
    for (let count = 0; count < 100; count++) request.write(Buffer.alloc(100_000));
    request.end();
    await new Promise((resolve) => request.once('end', resolve));
  });

  it('are given up when the sender leaves, before or while they are read', async () => {
    const request = new PassThrough();
    const body = exactBody(request, 100);
    request.write(bytes);
    request.destroy();
    await expect(body).rejects.toThrow(BadRequestException);
    await expect(exactBody(request, 100)).rejects.toThrow();
    const gone = new PassThrough();
    gone.destroy();
    await new Promise((resolve) => gone.once('close', resolve));
    await expect(exactBody(gone, 100)).rejects.toThrow(BadRequestException);
  });
});
