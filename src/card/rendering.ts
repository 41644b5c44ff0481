import { createHash } from 'node:crypto';
import type { JsonObject } from '#protocol';

/** A document as it is sent. */
export interface Rendering {
  readonly body: Buffer;
  /** A validator with its quotes: equal documents have equal ones, in every process. Strong when their bytes are equal, too. */
  readonly etag: string;
  /** When this process first had these bytes, in epoch milliseconds; `undefined` when nobody keeps them. */
  readonly modifiedAt?: number;
}

/** What is known of a document beside its content. */
export interface RenderingFacts {
  readonly modifiedAt?: number | undefined;
  /** What equal documents have in common whose bytes differ, such as those of their signatures. */
  readonly equivalent?: string | undefined;
}

/** Writes a document, and takes its digest. */
export function render(document: JsonObject, { modifiedAt, equivalent }: RenderingFacts = {}): Rendering {
  const body = Buffer.from(JSON.stringify(document), 'utf8');
  const digest = createHash('sha256')
    .update(equivalent ?? body)
    .digest('base64url');
  const etag = equivalent === undefined ? `"${digest}"` : `W/"${digest}"`;
  return { body, etag, ...(modifiedAt !== undefined && { modifiedAt }) };
}

/** Keys come from clients where the host is not configured, so that only so many are kept. */
const MAX_KEPT = 16;

/** Keeps the renderings of the keys that were asked for last. */
export class RenderingCache {
  private readonly kept = new Map<string, Promise<Rendering>>();

  /** @param make called when there is no rendering for the key; one that fails is not kept */
  get(key: string, make: () => Promise<Rendering>): Promise<Rendering> {
    const rendering = this.kept.get(key) ?? this.made(key, make);
    // Made or asked for last, so dropped last.
    this.kept.delete(key);
    this.kept.set(key, rendering);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
    return rendering;
  }

  private made(key: string, make: () => Promise<Rendering>): Promise<Rendering> {
    const rendering = make();
    rendering.catch(() => {
      if (this.kept.get(key) === rendering) this.kept.delete(key);
    });
    return rendering;
  }
}
