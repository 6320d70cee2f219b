/** Fetches a JSON document that is small, in time, from where it was asked for and nowhere else. */

import { checkUrl, type UrlPolicy } from '@mortise/protocol/edge';

/** How a document is fetched. */
export interface FetchJsonOptions {
  readonly fetch: typeof globalThis.fetch;
  /** Which addresses may be asked. @default public hosts over https */
  readonly policy?: UrlPolicy;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

/** A document and how long it may be kept. */
export interface JsonDocument {
  readonly value: unknown;
  readonly headers: Headers;
}

/**
 * @throws {Error} Whatever is wrong, as one sentence without the body: the address, the status, the size, the media type, the JSON, the time.
 */
export async function fetchJson(url: string, { fetch, policy, maxBytes, timeoutMs }: FetchJsonOptions): Promise<JsonDocument> {
  const reason = checkUrl(url, policy);
  if (reason !== undefined) throw new Error(reason);
  const signal = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, { redirect: 'manual', headers: { accept: 'application/json' }, signal });
  try {
    if (response.status !== 200) throw new Error(`The document at ${new URL(url).host} was answered with status ${response.status}`);
    const type = response.headers.get('content-type') ?? '';
    if (!/^application\/(?:[\w.+-]+\+)?json(?:\s*;|$)/i.test(type)) throw new Error('The document is not JSON by its media type');
    return { value: JSON.parse(await readText(response, maxBytes)), headers: response.headers };
  } catch (error) {
    await response.body?.cancel().catch(() => undefined);
    throw error;
  }
}

/** Reads a body, counting what arrives, compressed or not. */
export async function readText(source: Request | Response, maxBytes: number): Promise<string> {
  if (source.body === null) return '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let size = 0;
  for await (const chunk of chunksOf(source.body)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new Error(`The document is longer than ${maxBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Browsers cannot iterate a stream everywhere yet. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
  } finally {
    reader.releaseLock();
  }
}
