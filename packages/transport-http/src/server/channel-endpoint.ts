/**
 * Lets whatever is connected to a plain `Transport` stand behind the exchange as if it were an endpoint: each request is delivered by
 * `onmessage`, and what `send` is given is led back to the request that it answers or belongs to. So servers of other SDKs run on the
 * same code.
 */

import {
  CancelledError,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { classifyMessage, INVALID_REQUEST } from '@mortise/jsonrpc-core/messages';
import type { MessageInfo, SendOptions } from '@mortise/jsonrpc-core/transport';
import { NEWEST } from '@mortise/protocol';
import type { AuthInfo, ExchangeCall, LegacySession, McpEndpoint, SessionLink } from '@mortise/protocol/contracts';
import { NoStreamError } from '../errors.ts';

/** What a server of MCP's official SDK is told beside each message. */
export interface ChannelMessageInfo extends MessageInfo {
  readonly authInfo?: unknown;
  readonly requestInfo?: { readonly headers: Readonly<Record<string, string>> };
}

interface Pending {
  readonly call: ExchangeCall;
  resolve(response: JsonRpcResponse): void;
}

export class ChannelEndpoint implements McpEndpoint {
  readonly #deliver: (message: JsonRpcMessage, info: ChannelMessageInfo) => void;
  readonly #pending: Map<RequestId, Pending> = new Map();
  #link: SessionLink | undefined;

  constructor(deliver: (message: JsonRpcMessage, info: ChannelMessageInfo) => void) {
    this.#deliver = deliver;
  }

  handle(request: JsonRpcRequest, call: ExchangeCall): Promise<JsonRpcResponse> {
    if (this.#pending.has(request.id)) {
      const message = 'A request with this id is still being served: use a new id';
      return Promise.resolve({ jsonrpc: '2.0', id: request.id, error: { code: INVALID_REQUEST, message } });
    }
    return new Promise((resolve) => {
      this.#pending.set(request.id, { call, resolve });
      this.#deliver(request, toInfo(call));
    });
  }

  openSession(link: SessionLink): LegacySession {
    this.#link = link;
    return {
      state: { layout: 0 },
      receive: async (message, call) => {
        if (classifyMessage(message) === 'request') return this.handle(message as JsonRpcRequest, call);
        if ('method' in message && message.method === 'notifications/cancelled') this.#cancel(message.params?.['requestId']);
        this.#deliver(message, toInfo(call));
        return undefined;
      },
      close: () => Promise.resolve(),
    };
  }

  paramHeaders(): undefined {
    return undefined;
  }

  nameParam(method: string): string | undefined {
    return NEWEST.requests.get(method)?.nameParam;
  }

  /** Leads what the connected server sends to where it belongs. */
  send(message: JsonRpcMessage, options?: SendOptions): Promise<void> {
    if (!('method' in message)) return this.#answer(message);
    const pending = options?.relatedRequestId === undefined ? undefined : this.#pending.get(options.relatedRequestId);
    if (pending !== undefined) return pending.call.send(message);
    return this.#sendUnrelated(message);
  }

  /** Answers nothing more. */
  close(): void {
    this.#pending.clear();
    this.#link = undefined;
  }

  async #answer(response: JsonRpcResponse): Promise<void> {
    const { id } = response;
    if (id === undefined || id === null) return;
    this.#pending.get(id)?.resolve(response);
    this.#pending.delete(id);
  }

  /** The official server answers nothing to a request that was cancelled, so nobody must wait for it. */
  #cancel(id: unknown): void {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    const { message } = new CancelledError();
    pending?.resolve({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } });
  }

  /** A notification that nobody listens to is dropped, as servers on this transport expect; a question is not. */
  async #sendUnrelated(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    try {
      await this.#link?.send(message);
    } catch (error) {
      if ('id' in message || !(error instanceof NoStreamError)) throw error;
    }
  }
}

function toInfo({ auth, origin }: ExchangeCall): ChannelMessageInfo {
  const names = ['host', 'user-agent', 'mcp-session-id', 'mcp-protocol-version', 'accept', 'content-type', 'origin'];
  const headers = Object.fromEntries(
    names.flatMap((name) => (origin?.header(name) === undefined ? [] : [[name, origin.header(name) ?? '']])),
  );
  return { ...(auth === undefined ? {} : { principal: auth.principal, auth, authInfo: toOfficialAuth(auth) }), requestInfo: { headers } };
}

/** The same facts under the names that handlers of the official SDK read. */
function toOfficialAuth({ token, clientId, scopes, expiresAtMs, claims }: AuthInfo): Readonly<Record<string, unknown>> {
  return { token, clientId, scopes, expiresAt: expiresAtMs === undefined ? undefined : Math.floor(expiresAtMs / 1000), extra: claims };
}
