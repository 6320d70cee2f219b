/** What an endpoint is given with a message of the legacy era, where a client that leaves has not cancelled. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import { Cancellation } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, CallOrigin, Principal } from '@mortise/protocol/contracts';
import { NoStreamError } from '../../errors.ts';

/** The call of a message that is not answered, so that nothing can be sent for it. Calls that are answered extend it. */
export class LegacyCall extends Cancellation implements Call {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly #caller: Pick<Call, 'origin'>;

  /** @param caller The exchange that the message came in by, or the session of one that another machine passed on. */
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
    return rejectUnreachable(message, 'this message has no answer that could carry it');
  }

  /** Breaks off, because the server has closed. */
  cut(reason: Error): void {
    this.cancel(reason);
  }
}

/** Rejects with a `NoStreamError`. @param why As in "cannot reach the client: it has no GET stream open". */
export function rejectUnreachable({ method }: JsonRpcNotification | JsonRpcRequest, why: string): Promise<never> {
  return Promise.reject(new NoStreamError(`"${method}" cannot reach the client: ${why}`));
}
