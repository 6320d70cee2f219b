/** The way to a program's raw handler, whose code is loaded with the first request for it. */

import type { JsonRpcRequest } from '@mortise/jsonrpc-core';
import type { Answer } from './answer.ts';
import { onDemand } from './on-demand.ts';
import type { RawCarrier } from './raw-call.ts';

const withRawCalls = onDemand(() => import('./raw-call.ts'));

/** Lets the raw handler answer, else the server. Neither throws nor rejects. */
export function serveRaw(request: JsonRpcRequest, carrier: RawCarrier, next: () => Answer): Answer {
  return withRawCalls(({ answerRaw }) => answerRaw(request, carrier, next));
}
