/** What one run of a handler is about, whether a request started it or an extension runs a tool from its record. */

import type { JsonObject, JsonRpcNotification, RequestId } from '@mortise/jsonrpc-core';
import type { Revision } from '@mortise/protocol';
import type { AuthInfo, CallOrigin, HandlerFacts, HandlerRun, Principal, Span } from '@mortise/protocol/contracts';
import type { RoundFacts } from './asks/round-facts.ts';
import type { LogGate } from './logging.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import type { ProgressReporter } from './progress.ts';
import type { ServerCore } from './server-core.ts';

export interface CallFacts {
  readonly core: ServerCore;
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly requestId: RequestId | undefined;
  readonly sessionId: string | undefined;
  readonly revision: Revision;
  readonly client: ClientFacts;
  readonly meta: JsonObject;
  readonly origin: CallOrigin | undefined;
  readonly app: unknown;
  readonly state: Map<unknown, unknown>;
  readonly signal: AbortSignal;
  /** The seam to the client. Made on first use. */
  readonly run: HandlerRun;
  /** What extensions may use for their members of the context. */
  readonly forExtensions: HandlerFacts;
  /** Where the program gave a tracer, and a request stands behind the run. */
  readonly span?: Span | undefined;
  /** What is known of the rounds before; undefined in the first, and where a tool runs outside a request. */
  readonly round?: RoundFacts | undefined;
  /** The legacy session that the call belongs to. */
  readonly session?: { tell(notification: JsonRpcNotification, key: string | undefined): void } | undefined;
  /** Whether nothing may be sent any more. */
  readonly isOver: boolean;
  /** Which log messages the client gets; undefined for none. Made on first use. */
  readonly logGate: LogGate | undefined;
  /** Thins out progress; undefined where the client did not ask for any. Made on first use. */
  readonly progress: ProgressReporter | undefined;
  /** Told of each question to the client, which settles with its answer. */
  onAsking?(asked: Promise<unknown>): void;
  /** Tells the operator, once, of a handler that uses its context after its answer. */
  warnIfAnswered?(use: string): void;
  /** Sends a canonical notification that belongs to the run. */
  report(notification: JsonRpcNotification): Promise<void>;
  closeStream(retryMs?: number): void;
}
