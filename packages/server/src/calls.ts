/** What the server makes a `Call` of itself: a request on a connection, and what has no request behind it. */

import type { JsonRpcNotification, JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { InboundCall } from '@mortise/jsonrpc-core/connection';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { AuthInfo, Call, Principal } from '@mortise/protocol/contracts';
import type { Channel } from './channel.ts';

/** The principal of a connection whose transport verified no user: the user of the machine. */
export const LOCAL: Principal = 'local';

/** How many microtasks a response takes at most from the handler to the transport: far more than it ever does. */
const MAX_TURNS = 100;

export class ChannelCall implements Call {
  readonly inbound: InboundCall;
  /** What the call arrived on. */
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

  /** The connection cancels its calls itself. */
  cancel(): void {}

  send(message: JsonRpcNotification | JsonRpcRequest): Promise<void> {
    return this.inbound.notify(message.method, message.params);
  }

  /**
   * Sends a notification right after the call's response, which must be on its way already. Not if the call was cancelled.
   *
   * @returns Resolves once the transport has it, or there is no more point in it.
   */
  async sendAfterResponse(notification: JsonRpcNotification): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS && !this.inbound.isSettled; turn++) await resolvedPromise;
    // Not waited for: a client that does not read must not keep the server from closing.
    if (this.inbound.isSettled && !this.inbound.isCancelled) void this.owner.send(notification).catch(() => undefined);
  }
}

/** A `Call` without a request of its client behind it: a notification, or a tool that runs from its record. */
export function createCall(caller: Pick<Call, 'principal' | 'auth' | 'signal'>, send: Call['send']): Call {
  return {
    ...caller,
    send,
    get isCancelled() {
      return caller.signal.aborted;
    },
    // What it belongs to is cancelled elsewhere.
    cancel: () => undefined,
  };
}
