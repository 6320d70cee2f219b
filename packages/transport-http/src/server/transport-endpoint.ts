/**
 * Makes an endpoint from a server that is connected to a plain `Transport`, such as a server of another SDK. Requests are delivered by
 * `onmessage`. A response goes to its request; another message to the request that it belongs to, or to the session.
 */

import {
  CancelledError,
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST, isJsonObject } from '@mortise/jsonrpc-core/messages';
import { type MessageInfo, resolvedPromise, type SendOptions } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, LegacySession, McpEndpoint, SessionLink } from '@mortise/protocol/contracts';
import { META_SUBSCRIPTION_ID } from '@mortise/protocol/wire';
import { NoStreamError } from '../errors.ts';
import { SESSION_OVER } from './http/refusal.ts';
import { rejectUnreachable } from './legacy/legacy-call.ts';

/** What a server of the official SDK gets with each message, as the second argument of `onmessage`. */
export interface TransportMessageInfo extends MessageInfo {
  readonly authInfo?: unknown;
  readonly requestInfo?: { readonly headers: Readonly<Record<string, string>> };
}

/** The requests of one client that are in progress, by the id that the client gave them. */
type ClientRequests = Map<RequestId, Pending>;

interface Pending {
  /** The id that the connected server sees instead of the client's id, because different clients may use the same ids. */
  readonly id: number;
  readonly clientId: RequestId;
  readonly requests: ClientRequests;
  readonly call: Call;
  /** Whether requests to the client are possible. The answer arrives in another POST, and only a session connects it with this request. */
  readonly canBeAsked: boolean;
  resolve(response: JsonRpcResponse): void;
}

export class TransportEndpoint implements McpEndpoint {
  readonly #deliver: (message: JsonRpcMessage, info: TransportMessageInfo) => void;
  /** The requests in progress, by the id that the connected server sees. */
  readonly #pending: Map<RequestId, Pending> = new Map();
  #lastId = 0;
  #link: SessionLink | undefined;

  constructor(deliver: (message: JsonRpcMessage, info: TransportMessageInfo) => void) {
    this.#deliver = deliver;
  }

  handle(request: JsonRpcRequest, call: Call): Promise<JsonRpcResponse> {
    return this.#serve(request, call, new Map(), false);
  }

  openSession(link: SessionLink): LegacySession {
    this.#link = link;
    const requests: ClientRequests = new Map();
    return {
      state: { layout: 0 },
      ready: resolvedPromise,
      receive: async (message, call) => {
        if (classifyMessage(message) === 'request') return this.#serve(message as JsonRpcRequest, call, requests, link.canRequest);
        if ('method' in message && message.method === 'notifications/cancelled') this.#cancel(message, requests, call);
        // Without a session an answer could come from any client.
        else if ('method' in message || link.canRequest) this.#deliver(message, toInfo(call));
        return undefined;
      },
      restore: () => undefined,
      // The connected server keeps no list of what its client listens to here.
      announceAll: () => undefined,
      close: () => {
        for (const pending of requests.values()) this.#stop(pending, SESSION_OVER);
        return resolvedPromise;
      },
    };
  }

  paramHeaders(): undefined {
    return undefined;
  }

  nameParam(): undefined {
    return undefined;
  }

  /** Sends a message of the connected server: a response to its request, another message to the request or stream that it belongs to. */
  async send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) return this.#respond(message);
    const pending = options?.relatedRequestId === undefined ? undefined : this.#pending.get(options.relatedRequestId);
    if (pending === undefined) return this.#sendUnrelated(message);
    if ('id' in message && !pending.canBeAsked) return rejectUnreachable(message, 'the call during which it was sent has no session');
    const { params } = message;
    return pending.call.send(params === undefined ? message : { ...message, params: toClientMeta(params, pending) });
  }

  /** Disconnects from the session: messages that belong to no request are no longer sent. */
  close(): void {
    this.#link = undefined;
  }

  #serve(request: JsonRpcRequest, call: Call, requests: ClientRequests, canBeAsked: boolean): Promise<JsonRpcResponse> {
    const clientId = request.id;
    if (requests.has(clientId)) return Promise.resolve(toFailure(clientId, 'A request with this id is still being served: use a new id'));
    return new Promise((resolve) => {
      const pending: Pending = { id: ++this.#lastId, clientId, requests, call, canBeAsked, resolve };
      requests.set(clientId, pending);
      this.#pending.set(pending.id, pending);
      call.signal.addEventListener('abort', () => this.#stop(pending, toReason(call.signal.reason)));
      this.#deliver({ ...request, id: pending.id }, toInfo(call));
    });
  }

  /** Ends a request and sends `notifications/cancelled` to the server: the client left, the session ended or the handler closes. */
  #stop(pending: Pending, reason: string): void {
    if (!this.#pending.has(pending.id)) return;
    this.#settle(pending, toFailure(pending.clientId, reason));
    const params = { requestId: pending.id, reason };
    this.#deliver({ jsonrpc: '2.0', method: 'notifications/cancelled', params }, toInfo(pending.call));
  }

  #settle(pending: Pending, response: JsonRpcResponse): void {
    this.#pending.delete(pending.id);
    pending.requests.delete(pending.clientId);
    pending.resolve(response);
  }

  #respond(response: JsonRpcResponse): void {
    const { id } = response;
    const pending = id === undefined || id === null ? undefined : this.#pending.get(id);
    if (pending === undefined) return;
    const result = 'result' in response ? { result: toClientMeta(response.result, pending) } : {};
    this.#settle(pending, { ...response, ...result, id: pending.clientId });
  }

  /** Cancels a client's own request and ends it here, because the official SDK's servers send no response to a cancelled request. */
  #cancel(message: JsonRpcNotification, requests: ClientRequests, call: Call): void {
    const pending = requests.get(message.params?.['requestId'] as RequestId);
    if (pending === undefined) return;
    this.#settle(pending, toFailure(pending.clientId, new CancelledError().message));
    this.#deliver({ ...message, params: { ...message.params, requestId: pending.id } }, toInfo(call));
  }

  /** Sends a message that belongs to no request. If the client has no stream open, drops a notification, and rejects for a request. */
  async #sendUnrelated(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    try {
      await this.#link?.send(message);
    } catch (error) {
      if ('id' in message || !(error instanceof NoStreamError)) throw error;
    }
  }
}

/** Replaces a subscription's id in `_meta`: it is the id of the request that opened it, and the client knows only the id that it sent. */
function toClientMeta(holder: JsonObject, { id, clientId }: Pending): JsonObject {
  const meta = holder['_meta'];
  if (!isJsonObject(meta) || meta[META_SUBSCRIPTION_ID] !== id) return holder;
  return { ...holder, _meta: { ...meta, [META_SUBSCRIPTION_ID]: clientId } };
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

/** Converts the authenticated caller to the shape that handlers of the official SDK expect. */
function toOfficialAuth({ token, clientId, scopes, expiresAtMs, claims }: AuthInfo): Readonly<Record<string, unknown>> {
  return { token, clientId, scopes, expiresAt: expiresAtMs === undefined ? undefined : Math.floor(expiresAtMs / 1000), extra: claims };
}
