/** Implementations of `Call`: for a request that arrived on a connection, and for a handler that runs without a client's request. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { InboundCall } from '@mortise/jsonrpc-core/connection';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, Principal } from '@mortise/protocol/contracts';
import type { Channel } from './channel.ts';

/** The principal of a connection without a verified user, such as stdio: the user of this machine. */
export const LOCAL: Principal = 'local';

/** How many microtasks to wait at most until a response was handed to the transport. Far more than needed. */
const MAX_TURNS = 100;

export class ChannelCall implements Call {
  readonly inbound: InboundCall;
  /** The connection that the call arrived on. */
  readonly owner: Channel;

  constructor(inbound: InboundCall, owner: Channel) {
    this.inbound = inbound;
    this.owner = owner;
  }

  get principal(): Principal {
    return this.inbound.info?.principal ?? LOCAL;
  }
  get auth(): AuthInfo | undefined {
    return this.inbound.info?.auth as AuthInfo | undefined;
  }
  get signal(): AbortSignal {
    return this.inbound.signal;
  }
  get isCancelled(): boolean {
    return this.inbound.isCancelled;
  }

  /** Does nothing, because the connection itself cancels its calls. */
  cancel(): void {}

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return this.inbound.notify(message.method, message.params);
  }

  /**
   * Sends a notification right after the call's response. Call it just before the response is sent. After a cancellation, sends nothing.
   *
   * @returns Resolves once the notification was handed to the transport, or if it will not be sent.
   */
  async sendAfterResponse(notification: JsonRpcNotification): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS && !this.inbound.isSettled; turn++) await resolvedPromise;
    // Not awaited, because a client that does not read must not keep the server from closing.
    if (this.inbound.isSettled && !this.inbound.isCancelled) void this.owner.send(notification).catch(() => undefined);
  }
}

/** Makes a `Call` without a client's request, for a notification or for a tool that runs from a stored record. */
export function createCall(caller: Pick<Call, 'principal' | 'auth' | 'signal'>, send: Call['send']): Call {
  return {
    ...caller,
    send,
    get isCancelled() {
      return caller.signal.aborted;
    },
    // The owner of the work cancels it.
    cancel: () => undefined,
  };
}
