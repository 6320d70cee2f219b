/** `/shared/transport`: v1's transport interface, and its helpers for `fetch`. */

import type { JSONRPCMessage, MessageExtraInfo, RequestId } from '../types.ts';

export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

export type TransportSendOptions = {
  /** The request that the message belongs to. */
  relatedRequestId?: RequestId | undefined;
  /** Continues a request whose stream broke, from this event on. */
  resumptionToken?: string | undefined;
  /** Called with each new token. */
  onresumptiontoken?: ((token: string) => void) | undefined;
};

/** Carries messages between a client and a server. */
export interface Transport {
  start(): Promise<void>;
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void>;
  close(): Promise<void>;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: (<T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void) | undefined;
  sessionId?: string | undefined;
  setProtocolVersion?: ((version: string) => void) | undefined;
}

/** Returns headers of any form as an object. */
export function normalizeHeaders(headers: RequestInit['headers']): Record<string, string> {
  if (headers instanceof Headers) return Object.fromEntries(headers.entries());
  return Array.isArray(headers) ? (Object.fromEntries(headers) as Record<string, string>) : { ...(headers as Record<string, string>) };
}

/** Makes a `fetch` that adds options to each request. Headers of a request win over those given here. */
export function createFetchWithInit(baseFetch: FetchLike = fetch, baseInit?: RequestInit): FetchLike {
  if (!baseInit) return baseFetch;
  return (url, init) => {
    const headers = init?.headers ? { ...normalizeHeaders(baseInit.headers), ...normalizeHeaders(init.headers) } : baseInit.headers;
    return baseFetch(url, { ...baseInit, ...init, ...(headers && { headers }) });
  };
}
