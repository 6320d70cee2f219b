/** Requests as middleware sees them, for tests. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { NEWEST } from '@mortise/protocol';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import type { MiddlewareCall } from '../../src/middleware/middleware.ts';

/** Stands still, so that no rate limit refills during a test. */
const clock = new FakeClock();

export function createCall(changes: Partial<MiddlewareCall> = {}): MiddlewareCall {
  const params: JsonObject = { name: 'add', arguments: { a: 1 } };
  return {
    method: 'tools/call',
    params,
    target: 'add',
    requestId: 1,
    principal: 'alice',
    auth: undefined,
    revision: NEWEST,
    era: NEWEST.era,
    client: { info: undefined, capabilities: {} },
    meta: {},
    signal: new AbortController().signal,
    app: undefined,
    origin: undefined,
    clock,
    sessionId: undefined,
    session: undefined,
    paramFault: undefined,
    state: new Map(),
    ...changes,
  };
}
