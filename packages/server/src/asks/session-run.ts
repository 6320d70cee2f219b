/** A handler's run on a legacy connection: questions are requests to the client, sent while the call waits. */

import type { JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Ask, HandlerRun } from '@mortise/protocol/contracts';
import type { RequestCall } from '../request-call.ts';
import { withAsking } from './load-asking.ts';
import { markHandled } from './mark-handled.ts';
import { Steps } from './steps.ts';

/** Makes the run of a legacy call. */
export function createSessionRun(call: RequestCall): HandlerRun {
  return new SessionRun(call);
}

export class SessionRun implements HandlerRun {
  readonly #call: RequestCall;
  #steps: Steps | undefined;
  #reports = 0;
  #asks = 0;

  constructor(call: RequestCall) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  ask(ask: Ask): Promise<JsonObject> {
    return markHandled(withAsking(({ askSession }) => askSession(this.#call, ask, () => ++this.#asks)));
  }

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return (this.#steps ??= new Steps()).once(key, fn);
  }

  report(notification: JsonRpcNotification): Promise<void> {
    const isRepeated = this.#reports++ < (this.#call.round?.reports ?? 0);
    return isRepeated ? resolvedPromise : this.#call.report(notification);
  }

  /** The handler is run once more. @returns How many notifications it has sent. */
  beginAgain(): number {
    const sent = Math.max(this.#reports, this.#call.round?.reports ?? 0);
    this.#reports = 0;
    return sent;
  }
}
