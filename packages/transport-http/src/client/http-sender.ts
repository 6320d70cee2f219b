/**
 * The joint between MCP's client and whatever moves HTTP: `fetch` fills it, `nodeHttp()` of `/node` does for a sixth of the CPU, and so
 * can anything else. It is less than `fetch` because MCP needs less.
 */

/** One request. */
export interface HttpCall {
  readonly method: 'POST' | 'GET' | 'DELETE';
  /** Absolute, without user name and fragment. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Takes a body, piece by piece. */
export interface BodySink {
  /** Must not throw. The bytes are the sink's from now on. */
  onChunk(chunk: Uint8Array): void;
  /** The body is over: complete, or with what went wrong. */
  onEnd(error?: Error): void;
}

/** An answer whose head has come. Its body is read once, or let go. */
export interface HttpAnswer {
  readonly status: number;
  /** The value of a header by lower-case name; undefined where there is none. */
  header(name: string): string | undefined;
  /** Begins to read the body. */
  read(sink: BodySink): void;
  /** Lets go of the rest of the body and closes what it came over. Safe to call at any time and again. */
  abort(): void;
}

/** A request that is on its way. */
export interface HttpFlight {
  readonly answer: Promise<HttpAnswer>;
  /** Ends it, at whatever stage. Safe to call at any time and again. */
  abort(): void;
}

/**
 * Sends requests. Must not throw.
 *
 * H1  `answer` resolves once the head has come, whatever its status. Redirects are not followed: 3xx is an answer like others.
 * H2  `answer` rejects where no head came, and soon after `abort`.
 * H3  `onEnd` is called once, without an error only if the body is complete; after it, and after `abort`, the sink is not called.
 * H4  What is read is the content: a `Content-Encoding` is undone or refused.
 * H5  A header with a line break in its value is refused.
 */
export type HttpSender = (call: HttpCall) => HttpFlight;
