/** What an endpoint is given with each message that a client posts, and the text of its answer. */

import type { JsonRpcNotification, JsonRpcRequest, JsonRpcResponse } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR, serializeMessage } from '@mortise/jsonrpc-core/messages';
import { Cancellation } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, CallOrigin, Principal } from '@mortise/protocol/contracts';
import { NoStreamError } from '../../errors.ts';
import type { HttpExchange } from '../http/http-exchange.ts';

/** The message as its host knows it: who sent it, how to reach them, whether they still wait. */
export abstract class PostCall extends Cancellation implements Call {
  readonly http: HttpExchange;

  constructor(http: HttpExchange) {
    super();
    this.http = http;
  }

  get principal(): Principal {
    return this.http.principal;
  }

  get auth(): AuthInfo | undefined {
    return this.http.auth;
  }

  get origin(): CallOrigin {
    return this.http.origin;
  }

  abstract send(message: JsonRpcNotification | JsonRpcRequest): Promise<void>;

  /** Ends a listen with its result, because the server closes. */
  endListen?(): void;

  /** Breaks off, because the server has closed. */
  cut(reason: Error): void {
    this.cancel(reason);
  }
}

/** The call of a message that is not answered: nothing can be sent for it. */
export class UnansweredCall extends PostCall {
  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return rejectUnreachable(message, UNANSWERED);
  }
}

/** Why nothing can be sent for a message that is not answered. */
export const UNANSWERED = 'the message at hand has no answer that could carry it';

/** Rejects with a `NoStreamError`. @param why As in "cannot reach the client: it has no GET stream open". */
export function rejectUnreachable({ method }: JsonRpcNotification | JsonRpcRequest, why: string): Promise<never> {
  return Promise.reject(new NoStreamError(`"${method}" cannot reach the client: ${why}`));
}

/** A response beside its text. */
export interface WrittenResponse {
  readonly message: JsonRpcResponse;
  readonly json: string;
}

/** Writes a response as JSON, whatever is in it: one that JSON cannot carry is answered as an internal error, never with silence. */
export function writeResponse(response: JsonRpcResponse): WrittenResponse {
  try {
    return { message: response, json: serializeMessage(response) };
  } catch {
    const id = response.id === undefined ? {} : { id: response.id };
    const message: JsonRpcResponse = { jsonrpc: '2.0', ...id, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
    return { message, json: serializeMessage(message) };
  }
}
