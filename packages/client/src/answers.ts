/** The program's side of what servers ask: forms and pages for the user, the user's model, the user's folders. */

import { type JsonObject, MortiseError, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject, METHOD_NOT_FOUND } from '@mortise/jsonrpc-core/messages';
import { REVISIONS } from '@mortise/protocol';
import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@mortise/protocol/model';

/** What an answering handler may know beside the question. */
export interface AnswerContext {
  /** Aborts when the server, or the caller of the request that asked, no longer wants the answer. */
  readonly signal: AbortSignal;
  readonly method: string;
}

/** Answers one question. A `ProtocolError` that it throws is the answer; any other error reaches the server as a neutral one. */
export type AnswerHandler<Params, Answer> = (params: Params, context: AnswerContext) => Answer | Promise<Answer>;

/** Handlers for the two modes of elicitation; the one that is absent is not declared. */
export interface ElicitationHandlers {
  /** Shows a form, made from `requestedSchema`. Must let the user decline. */
  readonly form?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | undefined;
  /**
   * Whether fields that an accepted form leaves out get the default that `requestedSchema` gives them. Leave it off where `form` shows
   * the defaults itself: what its user cleared stays cleared.
   *
   * @default false
   * @see 2025-11-25 client/elicitation#requested-schema
   */
  readonly fillsDefaults?: boolean | undefined;
  /** Shows the full URL and opens it only if the user agrees. Must not fetch it. Since 2025-11-25. */
  readonly url?: AnswerHandler<ElicitRequestURLParams, ElicitResult> | undefined;
}

/**
 * A handler for sampling and what it can do.
 *
 * @deprecated since 2026-07-28: servers call a model provider's API themselves.
 */
export interface SamplingHandler {
  readonly handler: AnswerHandler<CreateMessageRequestParams, CreateMessageResult>;
  /** Whether it honours `tools` and `toolChoice`. @default false */
  readonly tools?: boolean | undefined;
  /** Whether it honours `includeContext`. @default false */
  readonly context?: boolean | undefined;
}

/** What the program answers. Each one given declares its capability. */
export interface AnswerOptions {
  /** Asks the user. A function is a handler of forms. */
  readonly elicitation?: AnswerHandler<ElicitRequestFormParams, ElicitResult> | ElicitationHandlers | undefined;
  /** Asks the user's model. @deprecated since 2026-07-28: servers call a model provider's API themselves. */
  readonly sampling?: AnswerHandler<CreateMessageRequestParams, CreateMessageResult> | SamplingHandler | undefined;
  /**
   * The folders that servers may work in: `file://` URIs.
   *
   * @deprecated since 2026-07-28: pass them as tool arguments, resource URIs or configuration.
   */
  readonly roots?: readonly Root[] | AnswerHandler<JsonObject, readonly Root[]> | undefined;
}

/** A handler as the tables hold it. */
export type RawAnswer = (params: JsonObject, context: AnswerContext) => JsonObject | Promise<JsonObject>;

/** The handlers by method, and the capabilities that they amount to. */
export class Answers {
  readonly #handlers = new Map<string, RawAnswer>();
  #capabilities: ClientCapabilities;

  /** @param declared Capabilities that the program declares by itself. */
  constructor(declared: ClientCapabilities = {}, options: AnswerOptions = {}) {
    this.#capabilities = declared;
    if (options.elicitation) this.setElicitation(options.elicitation);
    if (options.sampling) this.setSampling(options.sampling);
    if (options.roots) this.setRoots(options.roots);
  }

  get capabilities(): ClientCapabilities {
    return this.#capabilities;
  }

  /** Sets a handler, and declares what MCP's own methods need. */
  set(method: string, handler: RawAnswer): void {
    this.#handlers.set(method, handler);
    const needed = REVISIONS.map(({ requests }) => requests.get(method)?.clientCapability).find((name) => name !== undefined);
    if (needed !== undefined) this.#declare(needed, {});
  }

  /** Takes a handler away. */
  delete(method: string): void {
    this.#handlers.delete(method);
  }

  setElicitation(given: NonNullable<AnswerOptions['elicitation']>): void {
    const { form, url, fillsDefaults }: ElicitationHandlers = typeof given === 'function' ? { form: given } : given;
    this.#declare('elicitation', { ...(form && { form: {} }), ...(url && { url: {} }) });
    this.set('elicitation/create', async (params, context) => {
      if (typeof params['message'] !== 'string') throw refuse('Invalid params: message must be a string');
      if (params['mode'] !== 'url') {
        if (!form) throw refuse('Form elicitation is not supported');
        const answer = withoutStrayContent(await form(params as ElicitRequestFormParams, context));
        return fillsDefaults === true ? withDefaults(answer, params['requestedSchema']) : answer;
      }
      if (!url) throw refuse('URL elicitation is not supported');
      const { content: _never, ...answer } = await url(params as ElicitRequestURLParams, context);
      return answer;
    });
  }

  setSampling(given: NonNullable<AnswerOptions['sampling']>): void {
    const { handler, tools, context: hasContext } = typeof given === 'function' ? { handler: given, tools: false, context: false } : given;
    this.#declare('sampling', { ...(tools && { tools: {} }), ...(hasContext && { context: {} }) });
    this.set('sampling/createMessage', async (params, context) => {
      if (!Array.isArray(params['messages'])) throw refuse('Invalid params: messages must be an array');
      if (!tools && (params['tools'] !== undefined || params['toolChoice'] !== undefined))
        throw refuse('Sampling with tools is not supported');
      return handler(params as CreateMessageRequestParams, context);
    });
  }

  setRoots(given: NonNullable<AnswerOptions['roots']>): void {
    this.#declare('roots', { listChanged: true });
    this.set('roots/list', async (params, context) => {
      const roots = typeof given === 'function' ? await given(params, context) : given;
      for (const root of roots) assertFileRoot(root);
      return { roots };
    });
  }

  /**
   * Answers one question.
   *
   * @throws {ProtocolError} -32601 where nobody answers such questions, or what the handler threw.
   */
  async answer(method: string, params: JsonObject | undefined, context: AnswerContext): Promise<JsonObject> {
    const handler = this.#handlers.get(method);
    if (!handler) throw new ProtocolError(METHOD_NOT_FOUND, 'Method not found', { method });
    const answer: unknown = await handler(params ?? {}, context);
    if (!isJsonObject(answer)) throw new InvalidAnswerError(`the handler of "${method}" must give an object`);
    return answer;
  }

  /** Whether somebody answers such questions. */
  has(method: string): boolean {
    return this.#handlers.has(method);
  }

  #declare(name: string, settings: JsonObject): void {
    const declared = this.#capabilities[name];
    this.#capabilities = { ...this.#capabilities, [name]: { ...settings, ...(isJsonObject(declared) && declared) } };
  }
}

/** A handler of the program gave something that is not an answer. The server is told nothing of it but a neutral error. */
export class InvalidAnswerError extends MortiseError {
  override readonly name: string = 'InvalidAnswerError';
  override readonly code: 'ERR_INVALID_ANSWER' = 'ERR_INVALID_ANSWER';
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message);
}

/** Only an accepted form has content. */
function withoutStrayContent(answer: ElicitResult): ElicitResult {
  if (answer.action === 'accept' || answer.content === undefined) return answer;
  const { content: _dropped, ...rest } = answer;
  return rest;
}

/** The fields that were left out, with the defaults of the form. */
function withDefaults(answer: ElicitResult, schema: unknown): ElicitResult {
  const fields = isJsonObject(schema) && isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const defaults = fields.flatMap(([name, field]) =>
    isJsonObject(field) && field['default'] !== undefined ? [[name, field['default']] as const] : [],
  );
  if (answer.action !== 'accept' || defaults.length === 0) return answer;
  return { ...answer, content: { ...(Object.fromEntries(defaults) as ElicitResult['content']), ...answer.content } };
}

function assertFileRoot(root: Root): void {
  if (!/^file:\/\//iu.test(root.uri)) throw new InvalidAnswerError(`root "${root.uri}": a root's URI begins with file://`);
  if (/(?:^|\/)(?:\.|%2e){2}(?:\/|$)/iu.test(root.uri)) throw new InvalidAnswerError(`root "${root.uri}": a root's URI has no ".." in it`);
}
