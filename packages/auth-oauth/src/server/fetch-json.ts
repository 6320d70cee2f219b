/** Fetches a JSON document that is small, in time, from where it was asked for and nowhere else. */

import type { Clock } from '@mortise/jsonrpc-core';
import type { UrlPolicy } from '@mortise/protocol/edge';
import { createSafeFetch, type FetchLike } from '../safe-fetch.ts';

/** How a document is fetched. */
export interface FetchJsonOptions {
  readonly fetch: FetchLike;
  /** Which addresses may be asked. @default public hosts over https */
  readonly policy?: UrlPolicy | undefined;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  /** Runs the timer of `timeoutMs`. @default the system's */
  readonly clock?: Clock | undefined;
}

/** A document and what says how long it may be kept. */
export interface JsonDocument {
  readonly value: unknown;
  readonly headers: Headers;
}

/** @throws {Error} Whatever is wrong, in words without the body: the address, a redirect, the status, the size, the media type, the JSON, the time. */
export async function fetchJson(url: string, { fetch, policy, maxBytes, timeoutMs, clock }: FetchJsonOptions): Promise<JsonDocument> {
  const safeFetch = createSafeFetch({ urls: policy, fetch, timeoutMs, maxBytes, maxRedirects: 0, clock });
  const { status, headers, text } = await safeFetch(url, { headers: { accept: 'application/json' } });
  if (status !== 200) throw new Error(`The document at ${new URL(url).host} was answered with status ${status}`);
  if (!/^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i.test(headers.get('content-type') ?? ''))
    throw new Error('The document is not JSON by its media type');
  return { value: JSON.parse(text), headers };
}
