/** A method of one revision with everything that serving it needs, looked up once and kept. */

import type { JsonObject, MortiseError } from '@mortise/jsonrpc-core';
import { type Era, NEWEST, type Revision } from '@mortise/protocol';
import type { Convert, MethodFacts } from '@mortise/protocol/revisions';
import { afterError, afterResult } from './asks/after-run.ts';
import { isRetry, resume } from './asks/exchange-run.ts';
import type { Middleware } from './middleware/middleware.ts';
import type { RequestCall } from './request-call.ts';

/** Serves a method: takes canonical params, gives a canonical result. */
export type MethodFn = (params: JsonObject, call: RequestCall) => JsonObject | Promise<JsonObject>;

/** What serves a method. */
export interface MethodEntry {
  readonly run: MethodFn;
  /** False where the method may take as long as it likes. */
  readonly isBounded: boolean;
  /** Where it exists; everywhere that the revision says, without. */
  readonly eras?: readonly Era[] | undefined;
  readonly nameParam?: string | undefined;
  /** True where a call reaches its handler by a name that the program has registered, and by no other. */
  readonly findsByName?: boolean | undefined;
  /** The result of a call that was stopped at its bound, or could not ask what it had to; an error without. */
  readonly toExpiredResult?: (error: MortiseError) => JsonObject;
}

/** Stands between the middleware and the method: what extensions put in front. */
export type Interceptor = (call: RequestCall, next: () => Promise<JsonObject>) => Promise<JsonObject>;

export interface ResolvedMethodInit {
  readonly method: string;
  readonly revision: Revision;
  readonly facts: MethodFacts | undefined;
  readonly entry: MethodEntry;
  readonly middleware: readonly Middleware[];
  readonly interceptors: readonly Interceptor[];
  /** Makes the app context. */
  readonly context: ((call: RequestCall) => unknown) | undefined;
  readonly targetParam: string | undefined;
}

export class ResolvedMethod {
  readonly method: string;
  readonly revision: Revision;
  readonly facts: MethodFacts | undefined;
  readonly entry: MethodEntry;
  readonly targetParam: string | undefined;
  /** Its handler may ask by a result, and is then run again. */
  readonly runsInRounds: boolean;
  readonly readParams: Convert | undefined;
  readonly writeResult: Convert | undefined;
  readonly #context: ((call: RequestCall) => unknown) | undefined;
  readonly #chain: readonly ((call: RequestCall, next: (params?: JsonObject) => Promise<JsonObject>) => Promise<JsonObject> | JsonObject)[];

  constructor(init: ResolvedMethodInit) {
    const { method, revision } = init;
    this.method = method;
    this.revision = revision;
    this.facts = init.facts;
    this.entry = init.entry;
    this.targetParam = init.targetParam;
    this.runsInRounds = init.entry.eras === undefined && NEWEST.requests.get(method)?.inputRequired === true;
    this.readParams = revision.fromWire.params.get(method);
    this.writeResult = revision.toWire.results.get(method);
    this.#context = init.context;
    this.#chain = [...init.middleware, ...init.interceptors];
  }

  /** Runs the middleware and the method. Throws or rejects with what they throw. */
  invoke(call: RequestCall): JsonObject | Promise<JsonObject> {
    if (this.#context === undefined && this.#chain.length === 0) return this.#run(call);
    return this.#invokeChain(call);
  }

  #run(call: RequestCall): JsonObject | Promise<JsonObject> {
    return this.facts?.inputRequired === true && isRetry(call.params) ? resume(call) : this.entry.run(call.params, call);
  }

  /** Middleware is given the result that asks as any other, and never sees how the handler was left. */
  async #runInChain(call: RequestCall): Promise<JsonObject> {
    if (!this.runsInRounds) return this.#run(call);
    let result: JsonObject;
    try {
      result = await this.#run(call);
    } catch (error) {
      const asked = afterError(call, error);
      if (asked) return asked;
      throw error;
    }
    return afterResult(call, result) ?? result;
  }

  async #invokeChain(call: RequestCall): Promise<JsonObject> {
    if (this.#context) call.app = await this.#context(call);
    return this.#step(call, 0);
  }

  async #step(call: RequestCall, index: number): Promise<JsonObject> {
    const middleware = this.#chain[index];
    if (!middleware) return this.#runInChain(call);
    return middleware(call, (params) => {
      if (params) call.params = params;
      return this.#step(call, index + 1);
    });
  }
}
