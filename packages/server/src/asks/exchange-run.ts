/** A handler's run in a modern exchange, where servers send no requests. */

import type { JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import type { Ask, HandlerRun } from '@mortise/protocol/contracts';
import { AskUnavailableError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import { requireClientCapability } from './required-capabilities.ts';
import { Steps } from './steps.ts';

/** Makes the run of a modern call. */
export function createExchangeRun(call: RequestCall): HandlerRun {
  return new ExchangeRun(call);
}

class ExchangeRun implements HandlerRun {
  readonly #call: RequestCall;
  #steps: Steps | undefined;

  constructor(call: RequestCall) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  async ask(ask: Ask): Promise<JsonObject> {
    const { revision, client } = this.#call;
    requireClientCapability(ask, revision, client.capabilities);
    throw new AskUnavailableError(
      `"${ask.method}" cannot be asked from inside a handler in ${revision.version}: return an input_required result, or serve this tool to legacy clients`,
    );
  }

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return (this.#steps ??= new Steps()).once(key, fn);
  }

  report(notification: JsonRpcNotification): Promise<void> {
    return this.#call.report(notification);
  }
}
