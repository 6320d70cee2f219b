/** A handler's run on a legacy connection: questions are requests to the client, sent while the call waits. */

import type { JsonObject, JsonRpcNotification, JsonValue } from '@mortise/jsonrpc-core';
import { resolvedPromise } from '@mortise/jsonrpc-core/transport';
import { findRequest } from '@mortise/protocol/revisions';
import { checkClientResult } from '@mortise/protocol/checks';
import type { Ask, HandlerRun } from '@mortise/protocol/contracts';
import type { Session } from '../era/session.ts';
import { AskUnavailableError, InvalidAnswerError, TooManyAsksError } from '../errors.ts';
import { isKnownRequest } from '../known-methods.ts';
import type { RequestCall } from '../request-call.ts';
import { markHandled } from './mark-handled.ts';
import { requireClientCapability } from './required-capabilities.ts';
import { Steps } from './steps.ts';

/** How many questions one call asks at most: a handler that goes on with a model in a loop must come to an end. */
const MAX_ASKS = 1_000;

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
    return markHandled(this.#ask(ask));
  }

  async #ask(ask: Ask): Promise<JsonObject> {
    const call = this.#call;
    const { core, revision } = call;
    const session = this.#findSession(ask);
    requireClientCapability(ask, revision, call.client.capabilities);
    if (++this.#asks > MAX_ASKS) throw new TooManyAsksError(`A call asks its client ${MAX_ASKS} times at most`);
    const toWire = revision.toWire.params.get(ask.method);
    const wired = toWire && ask.params ? toWire(ask.params) : ask.params;
    core.deadlines.pause(call);
    const traced = call.traceAsk?.({ method: ask.method, params: wired });
    try {
      const { params: _given, ...rest } = ask;
      const params = traced ? traced.params : wired;
      const result = await this.#send(params ? { ...rest, params } : rest, session);
      const problem = checkClientResult(ask.method, result);
      if (problem !== undefined) throw new InvalidAnswerError(`The client's answer to "${ask.method}" is malformed: ${problem}`);
      traced?.end();
      return revision.fromWire.results.get(ask.method)?.(result) ?? result;
    } catch (error) {
      traced?.end(error);
      throw error;
    } finally {
      core.deadlines.resume(call, call.isEnded);
    }
  }

  /** Through the extensions that stand around questions. */
  #send(ask: Ask, session: Session): Promise<JsonObject> {
    const { core, host } = this.#call;
    const send = ({ method, params, signal, timeoutMs }: Ask, { belongsToCall = true } = {}): Promise<JsonObject> =>
      session.link.request(method, params, {
        call: belongsToCall ? host : undefined,
        signal,
        timeoutMs: timeoutMs ?? core.options.askTimeoutMs ?? 600_000,
      });
    const sendThrough = (index: number, asked: Ask, options?: { readonly belongsToCall?: boolean }): Promise<JsonObject> => {
      const interceptor = core.askInterceptors[index];
      if (!interceptor) return send(asked, options);
      return interceptor(asked, this.#call, (next, how) => sendThrough(index + 1, next, how));
    };
    return sendThrough(0, ask);
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

  #findSession({ method }: Ask): Session {
    const { session, revision } = this.#call;
    const exists = findRequest(revision, method, 'server') !== undefined || !isKnownRequest(method);
    if (!exists)
      throw new AskUnavailableError(`"${method}" does not exist in ${revision.version}, which this client speaks: do without it`);
    if (!session?.link.canRequest) {
      throw new AskUnavailableError(`"${method}" cannot reach this client: sessions are off for this host, switch them on to ask`);
    }
    if (!session.isReady)
      throw new AskUnavailableError(`"${method}" cannot be sent before the client's notifications/initialized: wait for it`);
    return session;
  }
}
