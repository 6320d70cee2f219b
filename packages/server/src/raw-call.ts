/** Requests as they came, for gateways: nothing is checked, converted or added. */

import type { JsonObject, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { isJsonRpcResponse } from '@mortise/jsonrpc-core/messages';
import type { AuthInfo, CallOrigin, Call, Principal } from '@mortise/protocol/contracts';
import { type Answer, toErrorAnswer } from './answer.ts';
import { AskUnavailableError, InvalidHandlerResultError } from './errors.ts';
import type { ServerCore } from './server-core.ts';

/** How a gateway asks the client. */
export interface RawRequestOptions {
  /** How long to wait for the client's answer, in milliseconds. @default the server's `askTimeoutMs` */
  readonly timeoutMs?: number | undefined;
  /** Gives the request up; it then rejects with the signal's reason. @default none */
  readonly signal?: AbortSignal | undefined;
}

/** What a gateway may know of a raw request and do beside its answer. */
export interface RawCall {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly origin: CallOrigin | undefined;
  readonly via: 'channel' | 'exchange';
  /** The legacy session's id, where the transport has one. */
  readonly sessionId: string | undefined;
  /** Aborts when the caller cancels or leaves. */
  readonly signal: AbortSignal;
  /** Sends a notification that belongs to the request, as it is. */
  notify(notification: JsonRpcNotification): Promise<void>;
  /**
   * Asks the client, on a connection that allows it.
   *
   * @throws {AskUnavailableError} `ERR_ASK_UNAVAILABLE`: no request can reach the client.
   */
  request(method: string, params?: JsonObject, options?: RawRequestOptions): Promise<JsonObject>;
}

/**
 * Answers a raw request, or gives undefined to leave it to the server.
 *
 * @returns The whole response (its id must be the request's own), sent as it is: unknown members and error data stay.
 */
export type RawHandler = (request: JsonRpcRequest, call: RawCall) => JsonRpcResponse | undefined | Promise<JsonRpcResponse | undefined>;

/** What carries a raw request. */
export interface RawCarrier {
  readonly core: ServerCore;
  readonly host: Call;
  readonly via: 'channel' | 'exchange';
  readonly sessionId: string | undefined;
  /** Asks the client; absent where nothing can reach it. */
  readonly request?:
    | ((
        method: string,
        params: JsonObject | undefined,
        options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
      ) => Promise<JsonObject>)
    | undefined;
}

/** Lets the program's raw handler answer, else the server. Neither throws nor rejects. */
export function answerRaw(request: JsonRpcRequest, carrier: RawCarrier, next: () => Answer): Answer {
  const { core } = carrier;
  const onFailed = (error: unknown): JsonRpcResponse => {
    core.logger.log('error', 'The raw handler failed', { method: request.method, error });
    return toErrorAnswer(request.id, error);
  };
  try {
    const outcome = core.rawHandler?.(request, new CarriedRawCall(carrier));
    if (!(outcome instanceof Promise)) return toAnswer(request, outcome) ?? next();
    return outcome.then((response) => toAnswer(request, response) ?? next()).catch(onFailed);
  } catch (error) {
    return onFailed(error);
  }
}

function toAnswer(request: JsonRpcRequest, response: JsonRpcResponse | undefined): JsonRpcResponse | undefined {
  if (response === undefined || (isJsonRpcResponse(response) && response.id === request.id)) return response;
  throw new InvalidHandlerResultError(
    'The raw handler gave something that is not a response to the request: return { jsonrpc, id, result } or { jsonrpc, id, error }',
  );
}

class CarriedRawCall implements RawCall {
  readonly #carrier: RawCarrier;

  constructor(carrier: RawCarrier) {
    this.#carrier = carrier;
  }

  get principal(): Principal {
    return this.#carrier.host.principal;
  }
  get auth(): AuthInfo | undefined {
    return this.#carrier.host.auth;
  }
  get origin(): CallOrigin | undefined {
    return this.#carrier.host.origin;
  }
  get via(): 'channel' | 'exchange' {
    return this.#carrier.via;
  }
  get sessionId(): string | undefined {
    return this.#carrier.sessionId;
  }
  get signal(): AbortSignal {
    return this.#carrier.host.signal;
  }

  notify(notification: JsonRpcNotification): Promise<void> {
    return this.#carrier.host.send(notification);
  }

  async request(method: string, params?: JsonObject, options: RawRequestOptions = {}): Promise<JsonObject> {
    const { request, core } = this.#carrier;
    if (!request)
      throw new AskUnavailableError(`"${method}" cannot be sent: this request is an exchange by itself, on which servers send none`);
    return request(method, params, { timeoutMs: options.timeoutMs ?? core.options.askTimeoutMs ?? 600_000, signal: options.signal });
  }
}
