/** What both faces, `node:http` and `fetch`, make of a request and of the way to answer it. Everything behind them knows only this. */

import type { AuthInfo } from '@mortise/protocol/contracts';
import type { Slotted } from './slots.ts';

/** A request before its body was read. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query, as far as this handler is concerned. */
  readonly target: string;
  /** What stands before `target` in the URL, where a framework has mounted the handler below a path. */
  readonly mountPath: string;
  readonly scheme: 'http' | 'https';
  /** The host and port that the request names, in its target or its `Host`; undefined where it names none or two. */
  readonly authority: string | undefined;
  readonly remoteAddress: string | undefined;
  /** Whether it came in on a loopback socket; undefined where the platform does not tell. */
  readonly isLoopback: boolean | undefined;
  /** What a framework in front has verified about the caller. */
  readonly auth: AuthInfo | undefined;
  /** The body, where a framework in front has parsed it already. */
  readonly parsedBody: unknown;
  /** The value of a header by its lower-case name; several lines joined by a comma. */
  header(name: string): string | undefined;
  /** Names a header that may come once and came more often; undefined where all is well. */
  findDuplicateHeader(): string | undefined;
  /**
   * Reads the body as text.
   *
   * @throws {HttpRefusal} 413 past `maxBytes`, 408 past `timeoutMs`, 503 where the server closes or reads too much at once, 400 where it
   * is not UTF-8 or ended early.
   */
  readBody(limits: BodyLimits): Promise<string>;
}

/** How a body is read. */
export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly watch: BodyWatch;
  readonly sender: BodySender;
}

/** Who sends a body: those with one key share a bound. */
export interface BodySender {
  readonly limitKey: string;
}

/** Ends the reading of bodies that take too long, with one timer for all of them, and bounds what they hold together. */
export interface BodyWatch {
  add(reading: WatchedBody): void;
  /**
   * Counts what is held of a body until it is deleted.
   *
   * @param bytes All that has come of it.
   * @returns false where all together would hold too much: it is to be read no further.
   * @throws What the program's `limitKey` throws.
   */
  hold(reading: WatchedBody, bytes: number): boolean;
  delete(reading: WatchedBody): void;
}

/** What one body counts for, and with whom. */
export interface HeldBytes {
  readonly key: string;
  bytes: number;
}

/** A body that is being read. */
export interface WatchedBody extends Slotted {
  /** Set by the watch. */
  startedAtMs: number;
  /** Kept by the watch; undefined while it does not count. */
  held: HeldBytes | undefined;
  readonly limits: BodyLimits;
  /** It is read no further. */
  stop(why: 'timeout' | 'closing'): void;
}

/** Names and values in turns, so that no object is built for a handful of headers. */
export type HeaderList = readonly string[];

/** Who is told that the client has left. An object and no function: with a closure here, V8 was measured to keep more of each request. */
export interface LeaveListener {
  onLeave(): void;
}

/** The way to answer one request. Exactly one of `respond` and `stream` is used, once. */
export interface HttpSink {
  /** The whole answer at once. Does nothing when the client has left. */
  respond(status: number, headers: HeaderList, body?: string): void;
  /** Begins an answer whose length is not known. */
  stream(status: number, headers: HeaderList): ByteSink;
  /** Told when the client closed the connection, or gave the answer up, before the answer was complete. */
  leaver: LeaveListener | undefined;
  readonly hasLeft: boolean;
}

/** A body that is written piece by piece. */
export interface ByteSink {
  /** @returns true where `onDrain` may never tell of it, because the layer below has room for more. */
  write(text: string): boolean;
  /** What was written and has not been taken by the layer below, in bytes. */
  readonly queuedBytes: number;
  /** Falls as the peer takes what was written, of a long text piece by piece; it has no unit. */
  readonly untaken: number;
  /** Told when `queuedBytes` has fallen. */
  onDrain: (() => void) | undefined;
  end(): void;
  /** Breaks the connection without an end, so that the client sees a loss. */
  destroy(): void;
}
