/** Answers what servers ask, in either era: the program's handlers by method, and the capabilities that they amount to. */

import { type Clock, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS } from '@mortise/protocol';
import { checkServerParams } from '@mortise/protocol/checks';
import type { Ask, ClientExtensionHost, JsonSchemaValidator, Tracer } from '@mortise/protocol/contracts';
import type { ClientCapabilities, Root } from '@mortise/protocol/model';
import { traceAnswer } from '../tracing.ts';
import { type AnswerContext, type AnswerOptions, checkAnswer, ELICITATION_OPTIONS, SAMPLING_OPTIONS } from './answer-options.ts';
import { elicit, OpenPages } from './elicitation.ts';
import { sample } from './sampling.ts';

/** A handler by method. */
export type RequestHandler = (params: JsonObject, context: AnswerContext) => JsonObject | Promise<JsonObject>;

/** Wraps the answers of a method. See `interceptAnswer` of `ClientExtensionHost`. */
export type AnswerInterceptor = Parameters<ClientExtensionHost['interceptAnswer']>[1];

/** What answering takes from the client's options. */
export interface AnswerParts extends AnswerOptions {
  readonly capabilities?: ClientCapabilities | undefined;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  readonly validator?: JsonSchemaValidator | false | undefined;
  /** Called with what goes wrong beside an answer. */
  onError(error: Error): void;
}

export class Answers {
  /** Whether the server runs on this machine. Set once that is known. */
  isServerLocal = false;
  readonly pages: OpenPages = new OpenPages();
  readonly #parts: AnswerParts;
  readonly #limits: ReadonlyMap<string, AskLimit>;
  readonly #interceptors = new Map<string, AnswerInterceptor>();
  #handlers: ReadonlyMap<string, RequestHandler> = new Map();
  #capabilities: ClientCapabilities;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.#capabilities = parts.capabilities ?? {};
    const { asksPerMinute = 60, clock, elicitation, sampling, roots } = parts;
    this.#limits = new Map([
      ['elicitation/create', new AskLimit('elicitation', asksPerMinute, clock)],
      ['sampling/createMessage', new AskLimit('sampling', asksPerMinute, clock)],
    ]);
    if (elicitation) this.setElicitation(elicitation);
    if (sampling) this.setSampling(sampling);
    if (roots) this.setRoots(roots);
  }

  get capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  /** Whether a handler answers this method. */
  has(method: string): boolean {
    return this.#handlers.has(method);
  }

  /** Sets a handler and declares nothing: for the methods of extensions. */
  add(method: string, handler: RequestHandler): void {
    this.#handlers = new Map(this.#handlers).set(method, handler);
  }

  /** Sets a handler, and declares what MCP's own methods need. */
  set(method: string, handler: RequestHandler): void {
    this.add(method, handler);
    const needed = REVISIONS.map(({ requests }) => requests.get(method)?.clientCapability).find((name) => name !== undefined);
    if (needed !== undefined) this.#declare(needed, {});
  }

  setElicitation(given: NonNullable<AnswerOptions['elicitation']>): void {
    const handlers = typeof given === 'function' ? { form: given } : given;
    checkOptions('elicitation', handlers, ELICITATION_OPTIONS);
    this.#declare('elicitation', { ...(handlers.form && { form: {} }), ...(handlers.url && { url: {} }) });
    const { validator, onError } = this.#parts;
    this.set('elicitation/create', (params, context) =>
      elicit(handlers, params, context, { pages: this.pages, isServerLocal: this.isServerLocal, validator, onError }),
    );
  }

  setSampling(given: NonNullable<AnswerOptions['sampling']>): void {
    const sampling = typeof given === 'function' ? { handler: given } : given;
    checkOptions('sampling', sampling, SAMPLING_OPTIONS);
    this.#declare('sampling', { ...(sampling.tools && { tools: {} }), ...(sampling.context && { context: {} }) });
    this.set('sampling/createMessage', (params, context) => sample(sampling, params, context));
  }

  setRoots(given: NonNullable<AnswerOptions['roots']>): void {
    this.#declare('roots', { listChanged: true });
    this.set('roots/list', async (params, context) => ({
      roots: normalizeRoots(typeof given === 'function' ? await given(params, context) : given),
    }));
  }

  /** Wraps every answer of a method, whichever handler gives it. */
  intercept(method: string, interceptor: AnswerInterceptor): void {
    this.#interceptors.set(method, interceptor);
  }

  /**
   * Answers one question, in the canonical model.
   *
   * @param protocolVersion The version that the server asks in, for the trace.
   * @throws {ProtocolError} -32601 where there is no handler, -32602 for a malformed question, or what the handler threw.
   * @throws {TypeError} The handler gave something that is not an answer.
   */
  answer(ask: Ask, signal: AbortSignal, protocolVersion: string): Promise<JsonObject> {
    const { tracer } = this.#parts;
    if (!tracer) return this.#answer(ask, signal);
    const parent = ask.params?.['_meta'];
    const call = { method: ask.method, protocolVersion };
    return traceAnswer(tracer, call, isJsonObject(parent) ? parent : undefined, () => this.#answer(ask, signal));
  }

  /** @returns Takes back everything that is set after this. */
  save(): () => void {
    const [handlers, capabilities] = [this.#handlers, this.#capabilities];
    return () => {
      this.#handlers = handlers;
      this.#capabilities = capabilities;
    };
  }

  async #answer({ method, params = {} }: Ask, signal: AbortSignal): Promise<JsonObject> {
    const handler = this.#handlers.get(method);
    if (!handler) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', { method });
    const problem = checkServerParams(method, params);
    if (problem !== undefined) throw new ProtocolError(INVALID_PARAMS, `Invalid params: ${problem}`);
    this.#limits.get(method)?.count();
    const run = async (asked: JsonObject, wanted: AbortSignal): Promise<JsonObject> =>
      checkAnswer(method, await handler(asked, { method, signal: wanted }));
    const interceptor = this.#interceptors.get(method);
    return interceptor ? interceptor(params, run, signal) : run(params, signal);
  }

  #declare(name: string, settings: JsonObject): void {
    const declared = this.#capabilities[name];
    this.#capabilities = { ...this.#capabilities, [name]: { ...settings, ...(isJsonObject(declared) && declared) } };
  }
}

/** A code of the range that JSON-RPC leaves to implementations. */
const TOO_MANY = -32000;
const MINUTE_MS = 60_000;

/** Lets a server ask so many times a minute, all of them at once if it likes. */
class AskLimit {
  readonly #what: string;
  readonly #perMinute: number;
  readonly #clock: Clock;
  #left: number;
  #filledAtMs: number;

  constructor(what: string, perMinute: number, clock: Clock) {
    this.#what = what;
    this.#perMinute = perMinute;
    this.#clock = clock;
    this.#left = perMinute;
    this.#filledAtMs = clock.monotonicMs();
  }

  /** Counts one question. @throws {ProtocolError} -32000: the server asks too often; `data.retryAfterMs` says when it may ask again. */
  count(): void {
    if (this.#perMinute === Infinity) return;
    const nowMs = this.#clock.monotonicMs();
    this.#left = Math.min(this.#perMinute, this.#left + ((nowMs - this.#filledAtMs) * this.#perMinute) / MINUTE_MS);
    this.#filledAtMs = nowMs;
    if (this.#left < 1) {
      const message = `Too many requests for ${this.#what}: this client allows ${this.#perMinute} a minute (asksPerMinute)`;
      const retryAfterMs = Math.ceil(((1 - this.#left) * MINUTE_MS) / this.#perMinute);
      throw new ProtocolError(TOO_MANY, message, Number.isFinite(retryAfterMs) ? { retryAfterMs } : {});
    }
    this.#left -= 1;
  }
}

/**
 * Gives roots whose URIs have one spelling each, every one once.
 *
 * Does NOT look at the disk: `folderRoots` of `@mortise/client/node` does.
 *
 * @throws {TypeError} One is not a `file://` URI, or has something in it that could lead elsewhere.
 * @see 2026-07-28 client/roots
 */
function normalizeRoots(roots: readonly Root[]): readonly Root[] {
  const byUri = new Map<string, Root>();
  for (const root of roots) {
    const uri = normalize(root.uri);
    if (!byUri.has(uri)) byUri.set(uri, uri === root.uri ? root : { ...root, uri });
  }
  return [...byUri.values()];
}

function normalize(uri: string): string {
  if (!/^file:\/\//iu.test(uri)) throw new TypeError(`root "${uri}": a root's URI begins with file://`);
  if (/(?:^|[/\\])(?:\.|%2e){2}(?:[/\\]|$)/iu.test(uri)) throw new TypeError(`root "${uri}": a root's URI has no ".." in it`);
  if (/%(?:2f|5c|00)/iu.test(uri)) throw new TypeError(`root "${uri}": a root's URI has no encoded slash, backslash or zero in it`);
  let parsed: URL;
  try {
    parsed = new URL(uri);
  } catch (cause) {
    throw new TypeError(`root "${uri}": a root's URI must be readable`, { cause });
  }
  if (parsed.search !== '' || parsed.hash !== '') throw new TypeError(`root "${uri}": a root's URI has no query and no fragment`);
  return parsed.href;
}
