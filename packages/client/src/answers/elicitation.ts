/** Asks the user by the program's handler: a form to fill in, or a page to open. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { JsonSchemaValidator } from '@mortise/protocol/contracts';
import { checkUrl } from '@mortise/protocol/edge';
import type { ElicitContent, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@mortise/protocol/model';
import { compileSchema } from '../output-checks.ts';
import { type AnswerContext, checkAnswer, type ElicitationOptions } from './answer-options.ts';

/** What asking takes beside the handlers. */
export interface ElicitParts {
  readonly pages: OpenPages;
  /** Whether the server runs on this machine, whose own pages it may then show. */
  readonly isServerLocal: boolean;
  /** Checks answers against the form; `false` for no check. */
  readonly validator: JsonSchemaValidator | false | undefined;
  /** Called with what of a form is left unchecked. */
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
  { form, url, fillsDefaults, urlPolicy }: ElicitationOptions,
  params: JsonObject,
  context: AnswerContext,
  parts: ElicitParts,
): Promise<ElicitResult> {
  if (params['mode'] === 'url') {
    if (!url) throw refuse('URL elicitation is not supported');
    const asked = params as ElicitRequestURLParams;
    const reason = checkUrl(asked.url, { allowLoopback: parts.isServerLocal, ...urlPolicy });
    if (reason !== undefined) throw refuse(`Invalid params: ${reason}`);
    return showPage(url, asked, context, parts.pages);
  }
  if (!form) throw refuse('Form elicitation is not supported');
  const asked = params as ElicitRequestFormParams;
  const { content, ...answer } = checkAnswer(context.method, await form(asked, context));
  // Only an accepted form has content.
  if (answer.action !== 'accept') return answer;
  return { ...answer, content: await fillIn(content ?? {}, asked.requestedSchema, fillsDefaults === true, parts) };
}

async function showPage(
  show: NonNullable<ElicitationOptions['url']>,
  params: ElicitRequestURLParams,
  { method, signal }: AnswerContext,
  pages: OpenPages,
): Promise<ElicitResult> {
  const { elicitationId } = params;
  const completed = pages.open(elicitationId);
  // In ASCII, as a browser opens it: nothing in it can look like something else.
  const { href } = new URL(params.url);
  const { content: _never, ...answer } = checkAnswer(method, await show({ ...params, url: href }, { method, signal, completed }));
  if (answer.action !== 'accept') pages.forget(elicitationId);
  return answer;
}

/** Adds defaults, of required fields always and of the others if `fillsAll`. @throws {TypeError} The result does not fit the form. */
async function fillIn(
  content: ElicitContent,
  form: ElicitRequestFormParams['requestedSchema'],
  fillsAll: boolean,
  { validator, onError }: ElicitParts,
): Promise<ElicitContent> {
  const filled: Record<string, JsonValue | undefined> = { ...content };
  for (const [name, field] of Object.entries<JsonObject>(form.properties)) {
    const isWanted = fillsAll || form.required?.includes(name) === true;
    if (isWanted && !Object.hasOwn(filled, name) && field['default'] !== undefined) filled[name] = field['default'];
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

/** A server that never says that its pages are done must not fill the memory. */
const MAX_PAGES = 1000;

/** The pages that servers asked the user to open and have not said to be done with. 2025-11-25 only: later servers are just asked again. */
export class OpenPages {
  readonly #pages = new Map<string, { readonly completed: Promise<void>; readonly complete: () => void }>();

  /** Notes a page before the user sees it: the server may say at any time after that it is done. */
  open(id: string | undefined): Promise<void> {
    if (id === undefined) return new Promise(() => undefined);
    const known = this.#pages.get(id);
    if (known) return known.completed;
    let complete: () => void = () => undefined;
    const completed = new Promise<void>((resolve) => (complete = resolve));
    this.#pages.set(id, { completed, complete });
    const [oldest] = this.#pages.keys();
    if (oldest !== undefined && this.#pages.size > MAX_PAGES) this.#pages.delete(oldest);
    return completed;
  }

  /** The user did not agree to open it. */
  forget(id: string | undefined): void {
    if (id !== undefined) this.#pages.delete(id);
  }

  /** The server says that one is done. @returns False for one that is not known, or done already. */
  complete(id: unknown): boolean {
    const page = this.#pages.get(id as string);
    page?.complete();
    return this.#pages.delete(id as string);
  }
}
