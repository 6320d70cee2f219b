/** Asks the user by the program's handler: a form to fill in, or a page to open. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { JsonSchemaValidator } from '@mortise/protocol/contracts';
import type { ElicitContent, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@mortise/protocol/model';
import { compileSchema } from '../output-checks.ts';
import { type AnswerContext, checkAnswer, type ElicitationOptions } from './answer-options.ts';

/** What elicitation takes beside the handlers. */
export interface ElicitParts {
  readonly pages: OpenPages;
  /** Checks answers against the form; `false` for no check. */
  readonly validator: JsonSchemaValidator | false | undefined;
  /** Why a page must not be offered to the user; undefined where it may. */
  checkPage(url: string): string | undefined;
  /** Called with the parts of a form that are left unchecked. */
  onError(error: Error): void;
}

/**
 * Asks the user by the handler of the mode.
 *
 * @param params Checked: they have the shape of `elicitation/create`.
 * @throws {ProtocolError} -32602: no handler for the mode, or a page or form that cannot be shown.
 * @throws {TypeError} The answer does not fit the form.
 */
export async function elicit(
  { form, url }: ElicitationOptions,
  params: JsonObject,
  context: AnswerContext,
  parts: ElicitParts,
): Promise<ElicitResult> {
  if (params['mode'] === 'url') {
    if (!url) throw refuse('URL elicitation is not supported');
    return showPage(url, params as ElicitRequestURLParams, context, parts);
  }
  if (!form) throw refuse('Form elicitation is not supported');
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
  // In ASCII, as a browser opens it: no letter in it can look like another.
  const { href } = new URL(params.url);
  const { content: _never, ...answer } = checkAnswer(context.method, await show({ ...params, url: href }, { ...context, completed }));
  return answer;
}

/** Adds the defaults of required fields. @throws {TypeError} The result does not fit the form. */
async function fillIn(
  content: ElicitContent,
  form: ElicitRequestFormParams['requestedSchema'],
  { validator, onError }: ElicitParts,
): Promise<ElicitContent> {
  const filled: Record<string, JsonValue | undefined> = { ...content };
  for (const [name, field] of Object.entries<JsonObject>(form.properties)) {
    const isMissing = form.required?.includes(name) === true && !Object.hasOwn(filled, name);
    if (isMissing && field['default'] !== undefined) filled[name] = field['default'];
  }
  const stray = Object.keys(filled).find((name) => typeof filled[name] === 'number' && !Number.isFinite(filled[name]));
  if (stray !== undefined) throw misfit(stray, 'must be a number that JSON can carry');
  if (validator === false) return filled as ElicitContent;
  const check = await compileSchema(form, { validator, onError }).catch((cause: Error) => {
    throw refuse(`Invalid params: the form cannot be checked: ${cause.message}`);
  });
  const [issue] = check(filled);
  if (issue) throw misfit(issue.path.join('.'), issue.message);
  return filled as ElicitContent;
}

function misfit(field: string, message: string): TypeError {
  return new TypeError(`the form's answer does not fit what was asked: ${field === '' ? 'it' : JSON.stringify(field)} ${message}`);
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message);
}

/** A server that never says that its pages are finished with must not fill the memory. */
const MAX_PAGES = 1000;

/** The pages that servers asked the user to open, until the server says that the user has finished with them. 2025-11-25 only. */
export class OpenPages {
  readonly #completions = new Map<string, () => void>();

  /** Notes a page. @returns Resolves when the server says that the user has finished with it. */
  open(id: string | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (id === undefined) return;
      this.#completions.set(id, resolve);
      const [oldest] = this.#completions.keys();
      if (oldest !== undefined && this.#completions.size > MAX_PAGES) this.#completions.delete(oldest);
    });
  }

  /** The server says that the user has finished with a page. @returns False for a page that is not known, or finished with already. */
  complete(id: unknown): boolean {
    this.#completions.get(id as string)?.();
    return this.#completions.delete(id as string);
  }
}
