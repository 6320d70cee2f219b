/** A connection to a server whose era is known. There is one class for each era; the rest of the client is the same for both. */

import type { JsonObject, JsonRpcNotification, RequestId } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { ClientCapabilities, Implementation, LoggingLevel, MetaObject, SubscriptionFilter } from '@mortise/protocol/model';
import type { Answers } from './answers/answers.ts';
import type { CallOptions } from './client-options.ts';
import type { Link, LinkSettings } from './link.ts';
import type { ServerFacts } from './middleware.ts';

/** What sessions take from the client. Lives as long as the client and is read anew each time. */
export interface SessionSettings extends LinkSettings {
  readonly info: Implementation;
  readonly answers: Answers;
  /** How long the first message waits for its answer. */
  readonly initializeTimeoutMs: number;
  /** Survives a restart. */
  logLevel: LoggingLevel | undefined;
  /** Everything that is declared in a revision, with the capabilities of extensions. */
  capabilitiesFor(revision: Revision): ClientCapabilities;
  /** Called with each notification that belongs to no subscription, in the canonical model. */
  onNotification(notification: JsonRpcNotification): void;
}

/** What a session reports of a subscription. */
export interface ListenSink {
  /** The part of the filter that the server honours. Called once, before any event. */
  onAccepted(accepted: SubscriptionFilter, notification: JsonRpcNotification): void;
  onEvent(notification: JsonRpcNotification): void;
  /** It is over: because the server ended it, or with an error. Not called after `close`. */
  onEnd(error?: Error): void;
}

/** One open subscription. */
export interface ListenHandle {
  close(): void;
}

export interface Session {
  readonly revision: Revision;
  readonly link: Link;
  readonly server: ServerFacts;
  readonly instructions: string | undefined;
  /** Whether the server was asked for its capabilities. */
  readonly isDiscovered: boolean;
  /** The parameters as this session's server wants them; always new ones where `progressToken` is given, which goes into `_meta`. */
  toWire(method: string, params: JsonObject, meta?: MetaObject, progressToken?: RequestId): JsonObject;
  /** The parameters as a gateway wants them sent: untouched, but with the `_meta` members that the era demands. */
  toRaw(params: JsonObject | undefined, meta?: MetaObject): JsonObject | undefined;
  /** Asks whether the server still answers. */
  ping(options?: CallOptions): Promise<void>;
  setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void>;
  /** Goes over to another version if an error says that the server wants one. @returns Whether to send the request again. */
  renegotiate(error: unknown): boolean;
  /** The client is about to declare more. @throws {MissingCapabilityError} It is too late to declare this to the server. */
  onDeclare(added: ClientCapabilities): void;
  /** The client's roots have changed. */
  sendRootsChanged(): Promise<void>;
  /** Begins to deliver changes to the sink. */
  listen(filter: SubscriptionFilter, sink: ListenSink): ListenHandle;
}
