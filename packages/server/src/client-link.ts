/** A legacy session's way to its client, whatever carries it. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { Call } from '@mortise/protocol/contracts';

/** How a request to the client is sent. */
export interface LinkRequestOptions {
  /** The call that the request belongs to: it goes out on that call's stream and ends with it. @default none */
  readonly call?: Call | undefined;
  /** Gives the request up, which is told to the client. @default none */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export interface ClientLink {
  readonly sessionId: string | undefined;
  /** Whether the client can be sent requests at all. */
  readonly canRequest: boolean;
  /** Sends a notification that belongs to no call. */
  send(notification: JsonRpcNotification): Promise<void>;
  /** Asks the client. Rejects as `Connection.request` does. */
  request(method: string, params: JsonObject | undefined, options: LinkRequestOptions): Promise<JsonObject>;
  /** Told which revision `initialize` agreed on. */
  onOpened?(version: string): void;
  /** Told when what the session remembers has changed. */
  onChanged?(): void;
}
