/** The program's side of what servers ask: forms and pages for the user, the user's model, the user's folders. */

import { type Clock, type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { REVISIONS } from '@mortise/protocol';
import { hasCapability } from '@mortise/protocol/checks';
import type { ClientExtensionHost } from '@mortise/protocol/contracts';
import type { UrlPolicy } from '@mortise/protocol/edge';
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@mortise/protocol/model';
import type { Answerer } from './answers/answerer.ts';
import type { PageAddress } from './answers/describe-page.ts';
import { InvalidAnswerError } from './errors.ts';

/** What an answering handler may know beside the question. */
export interface AnswerContext {
  /** Aborts when the server, or the caller of the request that asked, no longer wants the answer. */
  readonly signal: AbortSignal;
  readonly method: string;
}

/** What a handler of pages may know beside the question. */
export interface PageContext extends AnswerContext {
  /** What the user must be able to see before agreeing: the whole address, its host, and what is odd about it. */
  readonly page: PageAddress;
  /**
   * Resolves when the server says that the user is done with the page, which it need not do and only 2025-11-25 knows. Never rejects. Offer
   * the user a way to go on without it.
   */
  readonly completed: Promise<void>;
}

/** Answers one question. A `ProtocolError` that it throws is the answer; any other error reaches the server as a neutral one. */
export type AnswerHandler<Params, Answer, Context extends AnswerContext = AnswerContext> = (
  params: Params,
  context: Context,
) => Answer | Promise<Answer>;

/** Handlers for the two modes of elicitation; the one that is absent is not declared. */
export interface ElicitationHandlers {
  /**
   * Shows a form, made from `requestedSchema`: `describeForm` of `@mortise/client/host` tells its fields. Must say which server asks, let the
   * user edit, and let the user decline. An answer that does not fit the schema is not sent.
   */
  readonly form?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | undefined;
  /**
   * Whether fields that an accepted form leaves out get the default that `requestedSchema` gives them. Fields that are required get it
   * always. Leave it off where `form` shows the defaults itself: what its user cleared stays cleared.
   *
   * @default false
   * @see 2025-11-25 client/elicitation#requested-schema
   */
  readonly fillsDefaults?: boolean | undefined;
  /**
   * Shows the full address, opens it in the user's browser only if the user agrees, and answers `accept` for that consent. Must not fetch it.
   * The client itself opens nothing; addresses that `urlPolicy` refuses never get here. Since 2025-11-25.
   */
  readonly url?: AnswerHandler<ElicitRequestURLParams, ElicitResult, PageContext> | undefined;
  /** Which pages may be shown. @default https to public hosts, and this machine for a server that runs on it */
  readonly urlPolicy?: UrlPolicy | undefined;
  /**
   * How long a call that needs a page first waits for the server's word that the user is done with it, in milliseconds; then it is sent
   * again all the same. 2025-11-25 only.
   *
   * @default 300_000
   */
  readonly pageTimeoutMs?: number | undefined;
}

/** What the user says of something: as it is, not at all, or this instead. */
export type Approval<T> = T | boolean;

/**
 * A handler for sampling and what it can do.
 *
 * @deprecated since 2026-07-28: servers call a model provider's API themselves.
 */
export interface SamplingHandler {
  /** Asks the model. `selectModel` of `@mortise/client/host` helps to choose one. Must respect `maxTokens`. */
  readonly handler: AnswerHandler<CreateMessageRequestParams, CreateMessageResult>;
  /** Whether it honours `tools` and `toolChoice`. @default false */
  readonly tools?: boolean | undefined;
  /** Whether it honours `includeContext`. @default false */
  readonly context?: boolean | undefined;
  /**
   * Shows the user what the model would be asked. `false` refuses: a legacy server is told error -1, a modern one's request is not sent
   * again. Other params are asked instead; they never get more tokens than the server asked for.
   *
   * @default nobody is asked
   */
  readonly approveRequest?:
    | ((
        params: CreateMessageRequestParams,
        context: AnswerContext,
      ) => Approval<CreateMessageRequestParams> | Promise<Approval<CreateMessageRequestParams>>)
    | undefined;
  /** Shows the user what the server would be told. `false` refuses; another result is sent instead. @default nobody is asked */
  readonly approveResult?:
    | ((
        result: CreateMessageResult,
        params: CreateMessageRequestParams,
        context: AnswerContext,
      ) => Approval<CreateMessageResult> | Promise<Approval<CreateMessageResult>>)
    | undefined;
}

/** How often a server may ask, all at once or spread. `Infinity` for no limit. */
export interface AskLimits {
  /** Forms and pages. @default 60 */
  readonly elicitationsPerMinute?: number | undefined;
  /** Questions to the model. @default 60 */
  readonly samplingsPerMinute?: number | undefined;
}

/** What the program answers. Each one given declares its capability. */
export interface AnswerOptions {
  /** Asks the user. A function is a handler of forms. @default none: not declared */
  readonly elicitation?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | ElicitationHandlers | undefined;
  /** Asks the user's model. @default none: not declared @deprecated since 2026-07-28: servers call a model provider's API themselves. */
  readonly sampling?: AnswerHandler<CreateMessageRequestParams, CreateMessageResult> | SamplingHandler | undefined;
  /**
   * The folders that servers may work in: `file://` URIs.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   * @default none: not declared
   */
  readonly roots?: readonly Root[] | AnswerHandler<JsonObject, readonly Root[]> | undefined;
  /** How often a server may ask the user and the model. @default as each of its members says */
  readonly askLimits?: AskLimits | undefined;
}

/** A handler as the tables hold it. */
export type RawAnswer = (params: JsonObject, context: AnswerContext) => JsonObject | Promise<JsonObject>;

/** Stands around the answers of a method. See `interceptAnswer` of `ClientExtensionHost`. */
export type AnswerInterceptor = Parameters<ClientExtensionHost['interceptAnswer']>[1];

/** The handlers by method, and the capabilities that they amount to. What they do is loaded with the first of them. */
export class Answers {
  /** Whether the server is on this machine. Set when that is known. */
  isServerLocal = false;
  #handlers: ReadonlyMap<string, RawAnswer> = new Map();
  readonly #interceptors = new Map<string, AnswerInterceptor>();
  #capabilities: ClientCapabilities;
  #pageTimeoutMs: number | undefined;
  readonly #limits: AskLimits;
  readonly #clock: Clock;
  #answerer: Promise<Answerer> | undefined;

  constructor(options: AnswerOptions & { readonly capabilities?: ClientCapabilities | undefined }, clock: Clock) {
    this.#capabilities = options.capabilities ?? {};
    this.#limits = options.askLimits ?? {};
    this.#clock = clock;
    if (options.elicitation) this.setElicitation(options.elicitation);
    if (options.sampling) this.setSampling(options.sampling);
    if (options.roots) this.setRoots(options.roots);
  }

  get capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  /** How long a page is waited for. */
  get pageTimeoutMs(): number {
    return this.#pageTimeoutMs ?? 300_000;
  }

  /** Whether there is a handler for pages. */
  get canShowPages(): boolean {
    return hasCapability(this.#capabilities, 'elicitation.url') && this.has('elicitation/create');
  }

  /** What answers, once it is loaded; undefined where there is nothing to answer. */
  get answerer(): Promise<Answerer> | undefined {
    return this.#answerer;
  }

  /** Sets a handler and declares nothing: an extension's own methods. */
  add(method: string, handler: RawAnswer): void {
    this.#handlers = new Map(this.#handlers).set(method, handler);
  }

  /** Stands around every answer of a method, whoever gives it. */
  intercept(method: string, interceptor: AnswerInterceptor): void {
    this.#interceptors.set(method, interceptor);
  }

  /** Sets a handler, and declares what MCP's own methods need. */
  set(method: string, handler: RawAnswer): void {
    this.add(method, handler);
    const needed = REVISIONS.map(({ requests }) => requests.get(method)?.clientCapability).find((name) => name !== undefined);
    if (needed !== undefined) this.#declare(needed, {});
  }

  setElicitation(given: NonNullable<AnswerOptions['elicitation']>): void {
    const handlers: ElicitationHandlers = typeof given === 'function' ? { form: given } : given;
    const { form, url, pageTimeoutMs } = handlers;
    this.#pageTimeoutMs = pageTimeoutMs;
    this.#declare('elicitation', { ...(form && { form: {} }), ...(url && { url: {} }) });
    this.#setLoaded('elicitation/create', (answerer, params, context) => answerer.elicit(handlers, params, context, this.isServerLocal));
  }

  setSampling(given: NonNullable<AnswerOptions['sampling']>): void {
    const handler: SamplingHandler = typeof given === 'function' ? { handler: given } : given;
    this.#declare('sampling', { ...(handler.tools && { tools: {} }), ...(handler.context && { context: {} }) });
    this.#setLoaded('sampling/createMessage', (answerer, params, context) => answerer.sample(handler, params, context));
  }

  setRoots(given: NonNullable<AnswerOptions['roots']>): void {
    this.#declare('roots', { listChanged: true });
    this.#setLoaded('roots/list', (answerer, params, context) => answerer.listRoots(given, params, context));
  }

  /**
   * Answers one question.
   *
   * @throws {ProtocolError} -32601 where nobody answers such questions, or what the handler threw.
   */
  async answer(method: string, params: JsonObject | undefined, context: AnswerContext): Promise<JsonObject> {
    const handler = this.#handlers.get(method);
    if (!handler) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', { method });
    const interceptor = this.#interceptors.get(method);
    const next = (given: JsonObject, signal: AbortSignal): Promise<JsonObject> =>
      this.#check(method, handler(given, signal === context.signal ? context : { ...context, signal }));
    return interceptor ? interceptor(params ?? {}, next, context.signal) : this.#check(method, handler(params ?? {}, context));
  }

  async #check(method: string, given: JsonObject | Promise<JsonObject>): Promise<JsonObject> {
    const answer: unknown = await given;
    if (!isJsonObject(answer)) throw new InvalidAnswerError(`the handler of "${method}" must give an object`);
    return answer;
  }

  /** Whether somebody answers such questions. */
  has(method: string): boolean {
    return this.#handlers.has(method);
  }

  /** @returns Takes everything back that is set after this. */
  save(): () => void {
    const [handlers, capabilities, pageTimeoutMs] = [this.#handlers, this.#capabilities, this.#pageTimeoutMs];
    return () => {
      this.#handlers = handlers;
      this.#capabilities = capabilities;
      this.#pageTimeoutMs = pageTimeoutMs;
    };
  }

  #setLoaded(method: string, answer: (answerer: Answerer, params: JsonObject, context: AnswerContext) => Promise<JsonObject>): void {
    const answerer = (this.#answerer ??= import('./answers/answerer.ts').then((loaded) => new loaded.Answerer(this.#limits, this.#clock)));
    answerer.catch(() => undefined);
    this.set(method, async (params, context) => {
      const loaded = await answerer;
      context.signal.throwIfAborted();
      return answer(loaded, params, context);
    });
  }

  #declare(name: string, settings: JsonObject): void {
    const declared = this.#capabilities[name];
    this.#capabilities = { ...this.#capabilities, [name]: { ...settings, ...(isJsonObject(declared) && declared) } };
  }
}
