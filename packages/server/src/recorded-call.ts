/** A tool that runs from its record: no request stands behind it. */

import type { JsonObject, JsonRpcNotification, JsonValue, RequestId } from '@mortise/jsonrpc-core';
import type { ClientCapabilities, Revision } from '@mortise/protocol';
import { checkClientResult, isLoggingLevel, isProgressToken } from '@mortise/protocol/checks';
import type { Ask, AuthInfo, CallOrigin, HandlerFacts, HandlerRun, Principal, ToolCallRecord } from '@mortise/protocol/contracts';
import { META_LOG_LEVEL, META_PROGRESS_TOKEN } from '@mortise/protocol/wire';
import { markHandled } from './asks/mark-handled.ts';
import { requireClientCapability } from './asks/required-capabilities.ts';
import type { CallFacts } from './call-facts.ts';
import { InvalidAnswerError } from './errors.ts';
import { LogGate } from './logging.ts';
import type { ClientFacts } from './middleware/middleware.ts';
import { ProgressReporter } from './progress.ts';
import type { ServerCore } from './server-core.ts';

/** The run that an extension gave, asked in the form that the record's revision has. */
class RecordedRun implements HandlerRun {
  readonly #inner: HandlerRun;
  readonly #revision: Revision;
  readonly #capabilities: ClientCapabilities;

  constructor(inner: HandlerRun, revision: Revision, capabilities: ClientCapabilities) {
    this.#inner = inner;
    this.#revision = revision;
    this.#capabilities = capabilities;
  }

  get signal(): AbortSignal {
    return this.#inner.signal;
  }

  ask(ask: Ask): Promise<JsonObject> {
    return markHandled(this.#ask(ask));
  }

  once<T extends JsonValue>(key: string, fn: (idempotencyKey: string) => T | Promise<T>): Promise<T> {
    return this.#inner.once(key, fn);
  }

  report(notification: JsonRpcNotification): Promise<void> {
    return this.#inner.report(notification);
  }

  async #ask(ask: Ask): Promise<JsonObject> {
    requireClientCapability(ask, this.#revision, this.#capabilities);
    const toWire = this.#revision.toWire.params.get(ask.method);
    const result = await this.#inner.ask(toWire && ask.params ? { ...ask, params: toWire(ask.params) } : ask);
    const problem = checkClientResult(ask.method, result);
    if (problem !== undefined) throw new InvalidAnswerError(`The client's answer to "${ask.method}" is malformed: ${problem}`);
    return this.#revision.fromWire.results.get(ask.method)?.(result) ?? result;
  }
}

/** What such a run is about. */
export class RecordedCall implements CallFacts {
  readonly core: ServerCore;
  readonly revision: Revision;
  readonly run: HandlerRun;
  readonly forExtensions: HandlerFacts;
  readonly requestId: RequestId | undefined = undefined;
  readonly sessionId: string | undefined = undefined;
  readonly auth: AuthInfo | undefined = undefined;
  readonly origin: CallOrigin | undefined = undefined;
  readonly app: unknown = undefined;
  readonly #record: ToolCallRecord;
  #state: Map<unknown, unknown> | undefined;
  #progress: ProgressReporter | undefined;
  #logGate: LogGate | undefined;

  constructor(core: ServerCore, record: ToolCallRecord, revision: Revision, run: HandlerRun) {
    this.core = core;
    this.revision = revision;
    this.run = new RecordedRun(run, revision, record.clientCapabilities);
    this.forExtensions = { run, call: undefined };
    this.#record = record;
  }

  get principal(): Principal {
    return this.#record.principal;
  }
  get client(): ClientFacts {
    return { info: undefined, capabilities: this.#record.clientCapabilities };
  }
  get meta(): JsonObject {
    return this.#record.meta ?? {};
  }
  get state(): Map<unknown, unknown> {
    return (this.#state ??= new Map());
  }
  get signal(): AbortSignal {
    return this.run.signal;
  }
  get isOver(): boolean {
    return this.run.signal.aborted;
  }
  get logGate(): LogGate | undefined {
    const level = this.meta[META_LOG_LEVEL];
    if (!isLoggingLevel(level) || !this.core.capabilities.has(this.revision, 'logging')) return undefined;
    return (this.#logGate ??= new LogGate(level, this.core.clock, this.core.options.logging));
  }
  get progress(): ProgressReporter | undefined {
    const token = this.meta[META_PROGRESS_TOKEN];
    if (this.#progress || !isProgressToken(token)) return this.#progress;
    const send = (params: JsonObject): Promise<void> => this.run.report({ jsonrpc: '2.0', method: 'notifications/progress', params });
    return (this.#progress = new ProgressReporter(token, send, this.core.clock, this.core.options.progress));
  }

  report(notification: Parameters<HandlerRun['report']>[0]): Promise<void> {
    return this.run.report(notification);
  }

  closeStream(): void {}

  /** The last progress goes out before the result is known. */
  end(): void {
    if (this.isOver) this.#progress?.stop();
    else this.#progress?.flush();
  }
}
