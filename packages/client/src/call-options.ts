/** How one request of the client is made. */

import type { MetaObject, Progress } from '@mortise/protocol/model';

/** Options that every request takes. */
export interface CallOptions {
  /**
   * Aborting it cancels the request at the server and rejects with the signal's reason, as it is: `controller.abort(new Error('...'))` to say
   * why, else it is the platform's `AbortError`. A reason that is text or has a message is told to the server.
   *
   * @default none
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * How long to wait for the server's answer, in milliseconds; what this side takes for answering it meanwhile (up to the client's
   * `maxRequestTimeoutMs` a question), or for signing in, does not count, up to ten times `maxRequestTimeoutMs` (600,000 if that is longer) in all. `Infinity` for no bound.
   *
   * @default the client's `requestTimeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The hard bound in milliseconds, however much progress is told. It stands still when `timeoutMs` does.
   *
   * @default the client's `maxRequestTimeoutMs`, or this call's `timeoutMs` if that is longer
   */
  readonly maxTimeoutMs?: number | undefined;
  /**
   * Whether progress starts the time anew. The server is then asked for progress whether or not `onProgress` is given.
   *
   * @default true
   */
  readonly resetTimeoutOnProgress?: boolean | undefined;
  /** Whether a result that was kept is passed over and the server asked anew. @default false */
  readonly skipsCache?: boolean | undefined;
  /** Told each step of progress until the request is settled. @default none: no progress is asked for */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** More HTTP headers for this request, where the transport has headers. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** More members for the request's `_meta`. @default none */
  readonly meta?: MetaObject | undefined;
}
