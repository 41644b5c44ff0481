import type { ClientRequest, IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** The answer to a request. Redirects are answers like all others. */
export interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, up to the bound; as it was sent, so compressed when the receiver chose to. */
  readonly body: Buffer;
  /** Whether the body went on past the bound. */
  readonly isTruncated: boolean;
}

/**
 * Sends a request and reads its answer, up to a bound at which the connection is cut.
 *
 * @param maxBytes The greatest length of the body that is kept, in bytes.
 */
export async function exchange(
  request: ClientRequest,
  body: string | Uint8Array | undefined,
  maxBytes: number,
): Promise<GuardedResponse> {
  const response = await answerTo(request, body);
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving the loop destroys the response and its connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks, Math.min(size, maxBytes)),
    isTruncated: size > maxBytes,
  };
}

async function answerTo(request: ClientRequest, body: string | Uint8Array | undefined): Promise<IncomingMessage> {
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    // Stays, since errors may also come after the answer.
    request.on('error', reject);
    request.once('close', () => {
      reject(new Error('The connection was closed without an answer.'));
    });
  });
  request.end(body);
  return answer;
}
