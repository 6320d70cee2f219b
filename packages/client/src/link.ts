/** How requests travel: over one channel, or each in an exchange of its own. Everything above is the same for both. */

import { type JsonObject, type JsonRpcNotification, type JsonRpcRequest, type JsonRpcResponse, ProtocolError } from '@mortise/jsonrpc-core';
import { METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import type { InboundCall, RequestOptions, RequestOutcome } from '@mortise/jsonrpc-core/connection';

/**
 * How one request is sent over a link. `isCancellable`, `cancelReason` and `relatedRequestId` mean something on a channel alone: an exchange that
 * is given up just ends.
 */
export interface LinkRequestOptions extends RequestOptions {
  /** More HTTP headers for the request, where the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What becomes of that which arrives outside an answer. */
export interface LinkHost {
  onNotification(notification: JsonRpcNotification): void;
  /** Answers a request from the server. Absent where no response may be sent at all: requests are then dropped. */
  readonly onRequest?: ((request: JsonRpcRequest, call: InboundCall) => RequestOutcome) | undefined;
  /** Whether an array of messages is a batch. */
  readonly isBatchingOn: boolean;
  /** Whether an error that answers an unreadable message leaves `id` out. */
  readonly isErrorIdOptional: boolean;
}

/** A request that stays open and delivers notifications until one side ends it. */
export interface LinkStream {
  /** Resolves with the result by which the server ended it, or undefined where it just said so; rejects when it broke. */
  readonly ended: Promise<JsonObject | undefined>;
  /** Ends it from this side. `ended` then resolves. */
  cancel(): void;
}

/** A way to a server. */
export interface Link {
  /** Set once the era is known, and until then to what suits both. */
  host: LinkHost;
  /** Called when the channel below was lost and is being opened again: what the server knew of this client is gone. */
  onInterrupted: (() => void) | undefined;
  /** Resolves when the link has ended, for whatever reason. Never rejects. */
  readonly closed: Promise<void>;
  /** @param params Made for this request: the link may add to them. */
  request(method: string, params: JsonObject | undefined, options?: LinkRequestOptions): Promise<JsonObject>;
  /** Resolves with the response as it came, an error too. */
  requestRaw(method: string, params: JsonObject | undefined, options?: LinkRequestOptions): Promise<JsonRpcResponse>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Opens a request that stays open. `onNotification` is told what carries its id, in order. */
  openStream(method: string, params: JsonObject, onNotification: (notification: JsonRpcNotification) => void): LinkStream;
  close(): Promise<void>;
}

/** What a link does while its server's era is not known: a legacy server may ping even now. */
export const undecidedHost: LinkHost = {
  onNotification: () => undefined,
  onRequest: ({ id, method }) => {
    if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
    throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found');
  },
  isBatchingOn: false,
  isErrorIdOptional: false,
};
