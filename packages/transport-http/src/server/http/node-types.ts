/**
 * The parts of `node:http` that the Node face uses, by structure: `IncomingMessage` and `ServerResponse` have them, and so do the
 * objects of Express, Fastify (`.raw`) and `node:http2`. Written out so that this entry needs no Node types.
 */

/** By a method's type, which is compared in both directions: the types of Node declare `on` in other ways from version to version. */
type Listener = { listen(...args: unknown[]): void }['listen'];

/** A request of `node:http`. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Set by Express: where the router that `url` counts from is mounted. */
  readonly baseUrl?: unknown;
  /** By lower-case name, what came more than once joined. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Names and values in turns, as they came. */
  readonly rawHeaders: readonly string[];
  /** None where something else than `node:http` made the request. */
  readonly socket?: NodeSocket | null | undefined;
  /** Whether the body has been read to its end. */
  readonly readableEnded?: boolean | undefined;
  /** What a body parser in front has made of the body. */
  readonly body?: unknown;
  /** What a framework in front has verified about the caller. */
  readonly auth?: unknown;
  on(event: string, listener: Listener): unknown;
  resume(): unknown;
}

/** What is asked of a connection. */
export interface NodeSocket {
  readonly remoteAddress?: string | undefined;
  readonly localAddress?: string | undefined;
  readonly encrypted?: boolean | undefined;
}

/** A response of `node:http`. */
export interface NodeResponse {
  statusCode: number;
  readonly writableLength: number;
  readonly writableFinished: boolean;
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  setHeader(name: string, value: string): unknown;
  flushHeaders?(): void;
  write(chunk: string): boolean;
  end(): unknown;
  end(chunk: string): unknown;
  destroy(): unknown;
  on(event: string, listener: Listener): unknown;
}
