/** The `Call` that the endpoint gets with a legacy message. It is not cancelled when the client disconnects. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { Cancellation } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, CallOrigin, Principal } from '@mortise/protocol/contracts';
import { NoStreamError } from '../../errors.ts';

/** The `Call` of a notification or a response, with which nothing can be sent to the client. The base class of other calls. */
export class LegacyCall extends Cancellation implements Call {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly #caller: Pick<Call, 'origin'>;

  /** @param caller The HTTP exchange of the message, or the session if another machine received the message. */
  constructor(caller: Pick<Call, 'principal' | 'auth' | 'origin'>) {
    super();
    this.principal = caller.principal;
    this.auth = caller.auth;
    this.#caller = caller;
  }

  get origin(): CallOrigin | undefined {
    return this.#caller.origin;
  }

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return rejectUnreachable(message, 'the message during which it was sent gets no response');
  }

  /** Aborts the call, because the server has closed. */
  cut(reason: Error): void {
    this.cancel(reason);
  }
}

/** Rejects because a message cannot reach the client. @param why The reason, such as "the client has no GET stream open". */
export function rejectUnreachable({ method }: JsonRpcNotification | JsonRpcRequest, why: string): Promise<never> {
  return Promise.reject(new NoStreamError(`"${method}" cannot reach the client: ${why}`));
}
