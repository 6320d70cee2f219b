/**
 * A handler's run in a modern exchange, where servers send no requests: questions end the exchange, and the handler runs again from
 * its top with the answers.
 */

import type { JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import type { Ask, HandlerRun, RunSoFar } from '@mortise/protocol/contracts';
import { AskUnavailableError } from '../errors.ts';
import type { RequestCall } from '../request-call.ts';
import type { RunOutcome } from './after-run.ts';
import { withAsking } from './load-asking.ts';
import { markHandled } from './mark-handled.ts';
import { requireClientCapability } from './required-capabilities.ts';
import type { RoundState } from './round-state.ts';
import type { Round } from './round.ts';
import { Steps } from './steps.ts';

/** Makes the run of a modern call. */
export function createExchangeRun(call: RequestCall): ExchangeRun {
  return new ExchangeRun(call);
}

/** Whether a modern request goes on with an earlier one. */
export function isRetry({ requestState, inputResponses }: JsonObject): boolean {
  return requestState !== undefined || inputResponses !== undefined;
}

/** Runs the handler of a request that goes on with an earlier one. */
export async function resume(call: RequestCall): Promise<JsonObject> {
  const { run } = call;
  if (run instanceof ExchangeRun) await run.open();
  const { inputResponses: _given, requestState: _sealed, ...params } = call.params;
  const { inputResponses, requestState } = call.round ?? {};
  call.params = { ...params, ...(inputResponses && { inputResponses }), ...(requestState !== undefined && { requestState }) };
  return call.resolved.entry.run(call.params, call);
}

export class ExchangeRun implements HandlerRun {
  readonly #call: RequestCall;
  #steps: Steps | undefined;
  #round: Round | undefined;
  #opening: Promise<Round> | undefined;
  /** The round, once it is open; `#round` is it once something was asked. */
  #opened: Round | undefined;
  /** How many questions are not settled. */
  #asking = 0;
  #reports = 0;

  constructor(call: RequestCall) {
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  get steps(): Steps {
    return (this.#steps ??= new Steps());
  }

  /** How many notifications the handler has sent, those included that earlier rounds sent. */
  get reports(): number {
    return this.#reports;
  }

  /** Whether its questions went out. */
  get isSuspended(): boolean {
    return this.#round?.isSuspended === true;
  }

  /** Settles once what earlier rounds left is open; undefined where nothing is being opened. */
  get opening(): Promise<unknown> | undefined {
    return this.#opened ? undefined : this.#opening;
  }

  /** What the run did until now; undefined where the client is to be asked, so that it can only go on in the next round. */
  get soFar(): Omit<RunSoFar, 'hasLeft'> | undefined {
    if (this.opening !== undefined || this.#asking > 0 || this.#opened?.isAsking === true) return undefined;
    return { steps: this.steps.done, running: this.steps.running, answers: this.#opened?.state.answers ?? new Map() };
  }

  ask(ask: Ask): Promise<JsonObject> {
    return markHandled(this.#ask(ask));
  }

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return this.steps.once(key, fn);
  }

  report(notification: JsonRpcNotification): Promise<void> {
    const isRepeated = this.#reports++ < (this.#call.round?.reports ?? 0);
    return isRepeated ? resolvedPromise : this.#call.report(notification);
  }

  // ---- rounds

  /** Opens the state that came with the request, if one did. Rejects where it does not open. */
  open(): Promise<Round> {
    return (this.#opening ??= withAsking(async ({ openRound }) => (this.#opened = await openRound(this.#call, this))));
  }

  /** Takes up what earlier rounds did. */
  goOn({ chainId, steps }: RoundState): void {
    this.#steps = new Steps(chainId, steps);
  }

  /** See `Round.conclude`. */
  async conclude(outcome: RunOutcome): Promise<JsonObject> {
    return (await this.open()).conclude(outcome);
  }

  /** The handler has settled by itself. */
  abandon(): void {
    this.#round?.abandon();
  }

  async #ask(ask: Ask): Promise<JsonObject> {
    this.#asking++;
    try {
      return await this.#askInRound(ask);
    } finally {
      this.#asking--;
    }
  }

  async #askInRound(ask: Ask): Promise<JsonObject> {
    const { revision, client, resolved, method } = this.#call;
    if (resolved.facts?.inputRequired !== true)
      throw new AskUnavailableError(
        `"${ask.method}" cannot be asked while "${method}" is answered in ${revision.version}: ask in a tool, a prompt or a resource`,
      );
    if (revision.requests.get(ask.method)?.direction !== 'embedded')
      throw new AskUnavailableError(`"${ask.method}" cannot be sent in ${revision.version}: servers send no requests`);
    requireClientCapability(ask, revision, client.capabilities);
    // Those that wait for the opening stay in their order, and before all that are asked later.
    this.#round ??= await this.open();
    return this.#round.ask(ask);
  }
}
