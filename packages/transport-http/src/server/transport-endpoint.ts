/**
 * Makes an endpoint from a server that is connected to a plain `Transport`, such as a server of another SDK. Requests are delivered by
 * `onmessage`. Each message of `send` goes to the request that it answers or belongs to.
 */

import {
  CancelledError,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST, isRequestId } from '@mortise/jsonrpc-core/messages';
import { type MessageInfo, resolvedPromise, type SendOptions } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, LegacySession, McpEndpoint, SessionLink } from '@mortise/protocol/contracts';
import { NoStreamError } from '../errors.ts';
import { SESSION_OVER } from './http/refusal.ts';

/** What a server of the official SDK expects with each message. */
export interface TransportMessageInfo extends MessageInfo {
  readonly authInfo?: unknown;
  readonly requestInfo?: { readonly headers: Readonly<Record<string, string>> };
}

interface Pending {
  readonly call: Call;
  /** The session of the request; undefined in the modern era. */
  readonly session: LegacySession | undefined;
  resolve(response: JsonRpcResponse): void;
}

export class TransportEndpoint implements McpEndpoint {
  readonly #deliver: (message: JsonRpcMessage, info: TransportMessageInfo) => void;
  readonly #pending: Map<RequestId, Pending> = new Map();
  #link: SessionLink | undefined;

  constructor(deliver: (message: JsonRpcMessage, info: TransportMessageInfo) => void) {
    this.#deliver = deliver;
  }

  handle(request: JsonRpcRequest, call: Call): Promise<JsonRpcResponse> {
    return this.#serve(request, call, undefined);
  }

  openSession(link: SessionLink): LegacySession {
    this.#link = link;
    const session: LegacySession = {
      state: { layout: 0 },
      receive: async (message, call) => {
        if (classifyMessage(message) === 'request') return this.#serve(message as JsonRpcRequest, call, session);
        if ('method' in message && message.method === 'notifications/cancelled') this.#cancel(message.params?.['requestId']);
        this.#deliver(message, toInfo(call));
        return undefined;
      },
      close: () => {
        for (const [id, pending] of this.#pending) if (pending.session === session) this.#stop(id, pending, SESSION_OVER);
        return resolvedPromise;
      },
    };
    return session;
  }

  paramHeaders(): undefined {
    return undefined;
  }

  nameParam(): undefined {
    return undefined;
  }

  /** Sends a message of the connected server to the request or stream that it belongs to. */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) return this.#answer(message);
    const pending = options?.relatedRequestId === undefined ? undefined : this.#pending.get(options.relatedRequestId);
    if (pending !== undefined) return pending.call.send(message);
    return this.#sendUnrelated(message);
  }

  /** Ends the session's requests. */
  close(): void {
    this.#link = undefined;
  }

  #serve(request: JsonRpcRequest, call: Call, session: LegacySession | undefined): Promise<JsonRpcResponse> {
    const { id } = request;
    if (this.#pending.has(id)) return Promise.resolve(toFailure(id, 'A request with this id is still being served: use a new id'));
    return new Promise((resolve) => {
      const pending: Pending = { call, session, resolve };
      this.#pending.set(id, pending);
      call.signal.addEventListener('abort', () => this.#stop(id, pending, toReason(call.signal.reason)));
      this.#deliver(request, toInfo(call));
    });
  }

  /** Sends `notifications/cancelled` to the server, because the client left, the session ended or the handler closes. */
  #stop(id: RequestId, pending: Pending, reason: string): void {
    if (this.#pending.get(id) !== pending) return;
    this.#fail(id, reason);
    this.#deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } }, toInfo(pending.call));
  }

  #fail(id: RequestId, message: string): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.resolve(toFailure(id, message));
  }

  async #answer(response: JsonRpcResponse): Promise<void> {
    const { id } = response;
    if (id === undefined || id === null) return;
    this.#pending.get(id)?.resolve(response);
    this.#pending.delete(id);
  }

  /** Ends a cancelled request, because the official SDK's server does not respond to it. */
  #cancel(id: unknown): void {
    if (isRequestId(id)) this.#fail(id, new CancelledError().message);
  }

  /** Sends a message that belongs to no request. Without an open stream, a notification is dropped and a request rejects. */
  async #sendUnrelated(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    try {
      await this.#link?.send(message);
    } catch (error) {
      if ('id' in message || !(error instanceof NoStreamError)) throw error;
    }
  }
}

function toReason(reason: unknown): string {
  return reason instanceof Error ? reason.message : 'The request was cancelled';
}

function toFailure(id: RequestId, message: string): JsonRpcResponse {
  return { jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } };
}

function toInfo({ auth, origin }: Call): TransportMessageInfo {
  const names = ['host', 'user-agent', 'mcp-session-id', 'mcp-protocol-version', 'accept', 'content-type', 'origin'];
  const headers = Object.fromEntries(
    names.flatMap((name) => (origin?.header(name) === undefined ? [] : [[name, origin.header(name) ?? '']])),
  );
  return { ...(auth === undefined ? {} : { principal: auth.principal, auth, authInfo: toOfficialAuth(auth) }), requestInfo: { headers } };
}

/** Converts to the shape that handlers of the official SDK expect. */
function toOfficialAuth({ token, clientId, scopes, expiresAtMs, claims }: AuthInfo): Readonly<Record<string, unknown>> {
  return { token, clientId, scopes, expiresAt: expiresAtMs === undefined ? undefined : Math.floor(expiresAtMs / 1000), extra: claims };
}
