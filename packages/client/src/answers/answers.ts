/** Answers the server's requests by the program's handlers, in both eras, and collects the capabilities that the handlers declare. */

import { type Clock, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import { REVISIONS } from '@mortise/protocol';
import { checkServerParams, hasCapability } from '@mortise/protocol/checks';
import type { Ask, ClientExtensionHost, JsonSchemaValidator, Tracer } from '@mortise/protocol/contracts';
import { checkUrl } from '@mortise/protocol/edge';
import type { ClientCapabilities, Implementation, Root } from '@mortise/protocol/model';
import type { Session } from '../session.ts';
import { traceAnswer } from '../tracing.ts';
import { type AnswerContext, type AnswerOptions, checkAnswer, ELICITATION_OPTIONS, type ElicitationOptions } from './answer-options.ts';
import { elicit, OpenPages } from './elicitation.ts';
import { sample } from './sampling.ts';

/** Answers one request from the server: gets its parameters and returns the result to send. */
export type RequestHandler = (params: JsonObject, context: AnswerContext) => JsonObject | Promise<JsonObject>;

/** What `Answers` needs to know of the session in which the server asks. */
export type AskingSession = Pick<Session, 'revision' | 'server'>;

/** A function of an extension that wraps the handler of a method. See `interceptAnswer` of `ClientExtensionHost`. */
type AnswerInterceptor = Parameters<ClientExtensionHost['interceptAnswer']>[1];

/** The options and callbacks that the client passes to `Answers`. */
export interface AnswerParts extends AnswerOptions {
  readonly capabilities?: ClientCapabilities | undefined;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  readonly validator?: JsonSchemaValidator | false | undefined;
  /** Called with an error that does not stop the answer, such as a part of a form's schema that cannot be checked. */
  onError(error: Error): void;
  /** Called before the client declares the capability of a new handler. Throws if the open legacy session was opened without it. */
  onDeclare(added: ClientCapabilities): void;
}

export class Answers {
  /** Whether the server runs on this machine. Set when the client connects. */
  isServerLocal = false;
  readonly pages: OpenPages = new OpenPages();
  readonly #parts: AnswerParts;
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #interceptors = new Map<string, AnswerInterceptor>();
  readonly #limits: ReadonlyMap<string, AskLimit>;
  #capabilities: ClientCapabilities;
  #urlPolicy: ElicitationOptions['urlPolicy'];

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.#capabilities = parts.capabilities ?? {};
    const { asksPerMinute = 60, clock, elicitation, sampling, roots } = parts;
    const limited = ['elicitation/create', 'sampling/createMessage'];
    this.#limits = new Map(limited.map((method) => [method, new AskLimit(method, asksPerMinute, clock)]));
    if (elicitation) this.setElicitation(elicitation);
    if (sampling) this.setSampling(sampling);
    if (roots) this.setRoots(roots);
  }

  get capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  /** Whether a handler is set for this method. */
  has(method: string): boolean {
    return this.#handlers.has(method);
  }

  /** Sets the handler for a method of an extension. Declares no capability. */
  add(method: string, handler: RequestHandler): void {
    this.#handlers.set(method, handler);
  }

  /** Sets the handler for a method and declares the capability that the method needs, if MCP defines the method. */
  set(method: string, handler: RequestHandler): void {
    const needed = REVISIONS.map(({ requests }) => requests.get(method)?.clientCapability).find((name) => name !== undefined);
    if (needed !== undefined) this.#declare(needed, {});
    this.add(method, handler);
  }

  setElicitation(given: NonNullable<AnswerOptions['elicitation']>): void {
    const handlers = typeof given === 'function' ? { form: given } : given;
    checkOptions('elicitation', handlers, ELICITATION_OPTIONS);
    this.#declare('elicitation', { ...(handlers.form && { form: {} }), ...(handlers.url && { url: {} }) });
    this.#urlPolicy = handlers.urlPolicy;
    const { validator, onError } = this.#parts;
    const parts = { pages: this.pages, checkPage: (url: string) => this.checkPage(url), validator, onError };
    this.add('elicitation/create', (params, context) => elicit(handlers, params, context, parts));
  }

  setSampling(handler: NonNullable<AnswerOptions['sampling']>): void {
    this.#declare('sampling', {});
    this.add('sampling/createMessage', (params, context) =>
      sample(handler, params, context, hasCapability(this.#capabilities, 'sampling.tools')),
    );
  }

  setRoots(given: NonNullable<AnswerOptions['roots']>): void {
    this.#declare('roots', { listChanged: true });
    this.add('roots/list', async (params, context) => {
      const roots = typeof given === 'function' ? await given(params, context) : given;
      return { roots: roots.map(checkRoot) };
    });
  }

  /** Wraps the handler of a method, also one that is set later. */
  intercept(method: string, interceptor: AnswerInterceptor): void {
    this.#interceptors.set(method, interceptor);
  }

  /** Returns why `urlPolicy` refuses a web page that the server wants opened; undefined if it may be offered to the user. */
  checkPage(url: string): string | undefined {
    return checkUrl(url, { allowLoopback: this.isServerLocal, ...this.#urlPolicy });
  }

  /**
   * Answers one request from the server. Parameters and answer are in the canonical model (the shapes of the newest revision).
   *
   * @param session The session in which the server asks.
   * @throws {ProtocolError} -32601 if there is no handler, -32602 for malformed params, or what the handler threw.
   * @throws {TypeError} The handler's result is not a valid answer to the method.
   */
  answer(ask: Ask, signal: AbortSignal, session: AskingSession): Promise<JsonObject> {
    const { tracer } = this.#parts;
    const { info } = session.server;
    if (!tracer) return this.#answer(ask, signal, info);
    const parent = ask.params?.['_meta'];
    const call = { method: ask.method, protocolVersion: session.revision.version };
    return traceAnswer(tracer, call, isJsonObject(parent) ? parent : undefined, () => this.#answer(ask, signal, info));
  }

  async #answer(ask: Ask, signal: AbortSignal, serverInfo: Implementation | undefined): Promise<JsonObject> {
    const { method, params = {}, key, callSignal } = ask;
    const handler = this.#handlers.get(method);
    if (!handler) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', { method });
    const problem = checkServerParams(method, params);
    if (problem !== undefined) throw new ProtocolError(INVALID_PARAMS, `Invalid params: ${problem}`);
    this.#limits.get(method)?.count();
    const run = async (asked: JsonObject, wanted: AbortSignal): Promise<JsonObject> =>
      checkAnswer(method, await handler(asked, { method, signal: wanted, serverInfo, key, callSignal }), asked);
    const interceptor = this.#interceptors.get(method);
    return interceptor ? interceptor(params, run, signal) : run(params, signal);
  }

  /** Adds a capability to those that the client declares. Keeps settings that the program gave for it. */
  #declare(name: string, settings: JsonObject): void {
    this.#parts.onDeclare({ [name]: settings });
    const declared = this.#capabilities[name];
    this.#capabilities = { ...this.#capabilities, [name]: { ...settings, ...(isJsonObject(declared) && declared) } };
  }
}

/** The error code for a server that asks too often. It is in the range that JSON-RPC leaves to implementations. */
const TOO_MANY = -32000;
const MINUTE_MS = 60_000;

/** Limits how many requests a server may send in a minute. */
class AskLimit {
  readonly #method: string;
  readonly #perMinute: number;
  readonly #clock: Clock;
  #startedAtMs = -Infinity;
  #asks = 0;

  constructor(method: string, perMinute: number, clock: Clock) {
    this.#method = method;
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Counts one request of the server. @throws {ProtocolError} -32000 above the limit; `data.retryAfterMs` says when to ask again. */
  count(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#startedAtMs >= MINUTE_MS) {
      this.#startedAtMs = nowMs;
      this.#asks = 0;
    }
    this.#asks += 1;
    if (this.#asks <= this.#perMinute) return;
    const message = `Too many requests for ${this.#method}: this client allows ${this.#perMinute} a minute (option asksPerMinute)`;
    throw new ProtocolError(TOO_MANY, message, { retryAfterMs: this.#startedAtMs + MINUTE_MS - nowMs });
  }
}

/**
 * Returns a root with its URI normalized by `URL`.
 *
 * Does NOT check that the folder exists: `folderRoots` of `@mortise/client/node` does.
 *
 * @throws {TypeError} The URI is not a `file://` URI, or has a part that a root must not have, such as a query.
 * @see 2026-07-28 client/roots
 */
function checkRoot(root: Root): Root {
  const { uri } = root;
  const url = /^file:\/\//iu.test(uri) && URL.canParse(uri) ? new URL(uri) : undefined;
  if (!url) throw new TypeError(`root "${uri}": the URI of a root must be a valid file:// URI`);
  if (/(?:^|[/\\])(?:\.|%2e){2}(?:[/\\]|$)|%(?:2f|5c|00)/iu.test(uri)) {
    throw new TypeError(`root "${uri}": the URI of a root must not contain "..", or an encoded slash, backslash or zero byte`);
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError(`root "${uri}": the URI of a root must not have a query or a fragment`);
  return { ...root, uri: url.href };
}
