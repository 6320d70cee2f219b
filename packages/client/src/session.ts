/** The interface of a session. Each era has its own class for it; the rest of the client is the same for both. */

import type { JsonObject, JsonRpcNotification, RequestId } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { ClientCapabilities, Implementation, LoggingLevel, MetaObject, SubscriptionFilter } from '@mortise/protocol/model';
import type { Answers } from './answers/answers.ts';
import type { CallOptions } from './client-options.ts';
import type { Link, LinkSettings } from './link.ts';
import type { ServerFacts } from './middleware.ts';

/** The client's settings that a session uses. Values may change, so read them at each use. */
export interface SessionSettings extends LinkSettings {
  readonly info: Implementation;
  readonly answers: Answers;
  /** How long the first message of a connection waits for its response, in milliseconds. */
  readonly initializeTimeoutMs: number;
  /** The log level that the program asked for. Kept when the connection is opened again. */
  logLevel: LoggingLevel | undefined;
  /** Called when a handler failed to answer a request of a legacy server. A modern server's question fails the program's own call instead. */
  onAnswerFailed(method: string, error: Error): void;
  /** Returns all capabilities to declare in a revision, those of extensions included. */
  capabilitiesFor(revision: Revision): ClientCapabilities;
  /** Called with each notification that belongs to no subscription, in the canonical model (the shapes of the newest revision). */
  onNotification(notification: JsonRpcNotification): void;
}

/** Receives the events of one subscription. */
export interface ListenSink {
  /** Called once, before any event, with the part of the filter that the server honours. */
  onAccepted(accepted: SubscriptionFilter, notification: JsonRpcNotification): void;
  onEvent(notification: JsonRpcNotification): void;
  /** Called when the server has ended the subscription, or when it broke, with the error. Not called after `close`. */
  onEnd(error?: Error): void;
}

/** An open subscription, which `close` ends. */
export interface ListenHandle {
  close(): void;
}

export interface Session {
  readonly revision: Revision;
  readonly link: Link;
  readonly server: ServerFacts;
  readonly instructions: string | undefined;
  /** Whether the server's capabilities are known. */
  readonly isDiscovered: boolean;
  /** Converts parameters to this session's revision. Returns a new object if `progressToken` is given, which goes into `_meta`. */
  toWire(method: string, params: JsonObject, meta?: MetaObject, progressToken?: RequestId): JsonObject;
  /** Adds the `_meta` members that the era requires to a request's parameters, and changes nothing else. For gateways. */
  toRaw(params: JsonObject | undefined, meta?: MetaObject): JsonObject | undefined;
  /** Checks that the server still responds. */
  ping(options?: CallOptions): Promise<void>;
  setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void>;
  /** Switches to another protocol version if the error asks for one. @returns Whether to send the failed request again. */
  renegotiate(error: unknown): boolean;
  /** Called before the client declares more capabilities. @throws {MissingCapabilityError} The session cannot declare them any more. */
  onDeclare(added: ClientCapabilities): void;
  /** Notifies the server that the client's roots have changed, if the era has that notification. */
  sendRootsChanged(): Promise<void>;
  /** Opens a subscription, whose events are passed to `sink`. */
  listen(filter: SubscriptionFilter, sink: ListenSink): ListenHandle;
}
