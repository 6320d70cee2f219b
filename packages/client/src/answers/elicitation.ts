/** Answers `elicitation/create` by the program's handlers: one for forms, one for pages that the user should open. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { JsonSchemaValidator } from '@mortise/protocol/contracts';
import type { ElicitContent, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@mortise/protocol/model';
import { compileSchema } from '../output-checks.ts';
import { type AnswerContext, checkAnswer, type ElicitationOptions } from './answer-options.ts';

/** The parts of the client that `elicit` uses, apart from the handlers. */
export interface ElicitParts {
  readonly pages: OpenPages;
  /** Checks the user's answers against the form's schema; `false` turns the check off. */
  readonly validator: JsonSchemaValidator | false | undefined;
  /** Returns why the user must not be asked to open a web page; undefined if the user may be asked. */
  checkPage(url: string): string | undefined;
  /** Called for each part of a form's schema that the validator cannot check. */
  onError(error: Error): void;
}

/**
 * Calls the program's handler for the mode of the request: `form` or `url`.
 *
 * @param params Already checked against the shape of `elicitation/create`.
 * @throws {ProtocolError} -32602: the mode has no handler, `urlPolicy` refuses the page, or the form's schema cannot be checked.
 * @throws {TypeError} The handler's answer does not fit the form's schema.
 */
export async function elicit(
  { form, url }: ElicitationOptions,
  params: JsonObject,
  context: AnswerContext,
  parts: ElicitParts,
): Promise<ElicitResult> {
  if (params['mode'] === 'url') {
    if (!url) throw refuse('This client does not support URL elicitation');
    return showPage(url, params as ElicitRequestURLParams, context, parts);
  }
  if (!form) throw refuse('This client does not support form elicitation');
  const asked = params as ElicitRequestFormParams;
  const { content, ...answer } = checkAnswer(context.method, await form(asked, context));
  // Only an accepted form has content.
  if (answer.action !== 'accept') return answer;
  return { ...answer, content: await fillIn(content ?? {}, asked.requestedSchema, parts) };
}

async function showPage(
  show: NonNullable<ElicitationOptions['url']>,
  params: ElicitRequestURLParams,
  context: AnswerContext,
  { pages, checkPage }: ElicitParts,
): Promise<ElicitResult> {
  const reason = checkPage(params.url);
  if (reason !== undefined) throw refuse(`Invalid params: ${reason}`);
  const completed = pages.open(params.elicitationId);
  // In ASCII, as a browser opens the page: a lookalike letter cannot hide another host.
  const { href } = new URL(params.url);
  const { content: _never, ...answer } = checkAnswer(context.method, await show({ ...params, url: href }, { ...context, completed }));
  return answer;
}

/** Adds the defaults of missing required fields to a form's content. @throws {TypeError} The result does not fit the form's schema. */
async function fillIn(
  content: ElicitContent,
  form: ElicitRequestFormParams['requestedSchema'],
  { validator, onError }: ElicitParts,
): Promise<ElicitContent> {
  const filled: Record<string, JsonValue | undefined> = { ...content };
  const required = new Set(form.required);
  for (const [name, field] of Object.entries<JsonObject>(form.properties)) {
    const isMissing = required.has(name) && !Object.hasOwn(filled, name);
    if (isMissing && field['default'] !== undefined) filled[name] = field['default'];
  }
  const stray = Object.keys(filled).find((name) => typeof filled[name] === 'number' && !Number.isFinite(filled[name]));
  if (stray !== undefined) throw misfit(stray, 'must be a finite number');
  if (validator === false) return filled as ElicitContent;
  const check = await compileSchema(form, { validator, onError }).catch((cause: Error) => {
    throw refuse(`Invalid params: the form's schema cannot be checked: ${cause.message}`);
  });
  const [issue] = check(filled);
  if (issue) throw misfit(issue.path.join('.'), issue.message);
  return filled as ElicitContent;
}

function misfit(field: string, message: string): TypeError {
  return new TypeError(`the answer does not fit the form's schema: ${field === '' ? 'the content' : JSON.stringify(field)} ${message}`);
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message);
}

/** How many opened pages are remembered, because a server may never send `notifications/elicitation/complete`. */
const MAX_PAGES = 1000;

/** The pages opened for URL elicitation for which the server has not yet sent `notifications/elicitation/complete`. 2025-11-25 only. */
export class OpenPages {
  readonly #completions = new Map<string, () => void>();

  /** Remembers a page of URL elicitation by its id. @returns Resolves when the server reports that the user has finished with the page. */
  open(id: string | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (id === undefined) return;
      this.#completions.set(id, resolve);
      const [oldest] = this.#completions.keys();
      if (oldest !== undefined && this.#completions.size > MAX_PAGES) this.#completions.delete(oldest);
    });
  }

  /** Marks a page of URL elicitation as finished, by its elicitation id. @returns False if the page is unknown or already finished. */
  complete(id: unknown): boolean {
    this.#completions.get(id as string)?.();
    return this.#completions.delete(id as string);
  }
}
