/** Puts a server's question to the user: a form, or a page to open. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ElicitContent, ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult } from '@mortise/protocol/model';
import type { AnswerContext, ElicitationHandlers } from '../answers.ts';
import { InvalidAnswerError } from '../errors.ts';
import { describeForm, type FormDescription, InvalidFormError } from './describe-form.ts';
import { checkPage, describePage } from './describe-page.ts';
import type { OpenPages } from './open-pages.ts';

/** What the handlers' answers are checked with. */
export interface ElicitParts {
  readonly pages: OpenPages;
  /** Whether the server is on this machine, whose own pages it may show. */
  readonly isLocal: boolean;
  /** Counts one question. @throws {ProtocolError} There were too many. */
  take(): void;
}

/**
 * Asks the user by the handler of the mode.
 *
 * @throws {ProtocolError} -32602: the question itself cannot be asked, or not in this mode.
 * @throws {InvalidAnswerError} The handler's answer does not fit the form.
 */
export async function elicit(
  handlers: ElicitationHandlers,
  params: JsonObject,
  context: AnswerContext,
  parts: ElicitParts,
): Promise<ElicitResult> {
  if (typeof params['message'] !== 'string') throw refuse('Invalid params: message must be a string');
  const { mode = 'form' } = params;
  if (mode === 'form') return elicitByForm(handlers, params as ElicitRequestFormParams, context, parts);
  if (mode === 'url') return elicitByPage(handlers, params as ElicitRequestURLParams, context, parts);
  throw refuse(`Elicitation mode ${JSON.stringify(mode)?.slice(0, 40)} is not supported`);
}

async function elicitByForm(
  { form, fillsDefaults }: ElicitationHandlers,
  params: ElicitRequestFormParams,
  context: AnswerContext,
  { take }: ElicitParts,
): Promise<ElicitResult> {
  if (!form) throw refuse('Form elicitation is not supported');
  const description = readForm(params.requestedSchema);
  take();
  const { content, ...rest } = assertAction(await form(params, context));
  // Only an accepted form has content.
  if (rest.action !== 'accept') return rest;
  const filled = fill(content, description, fillsDefaults === true);
  assertFits(filled, description);
  return { ...rest, content: filled };
}

async function elicitByPage(
  { url: show, urlPolicy }: ElicitationHandlers,
  params: ElicitRequestURLParams,
  context: AnswerContext,
  { take, pages, isLocal }: ElicitParts,
): Promise<ElicitResult> {
  if (!show) throw refuse('URL elicitation is not supported');
  if (typeof params.url !== 'string') throw refuse('Invalid params: url must be a string');
  const reason = checkPage(params.url, { allowLoopback: isLocal, ...urlPolicy });
  if (reason !== undefined) throw refuse(`Invalid params: ${reason}`);
  take();
  const page = describePage(params.url);
  const { elicitationId } = params;
  const completed = pages.open(elicitationId);
  const shown = { method: context.method, signal: context.signal, page, completed };
  const { content: _never, ...answer } = assertAction(await show({ ...params, url: page.url }, shown));
  if (answer.action !== 'accept') pages.forget(elicitationId);
  return answer;
}

function readForm(requestedSchema: unknown): FormDescription {
  try {
    return describeForm(requestedSchema);
  } catch (error) {
    if (error instanceof InvalidFormError) throw refuse(`Invalid params: ${error.message}`);
    throw error;
  }
}

function assertAction(answer: ElicitResult): ElicitResult {
  const action: unknown = isJsonObject(answer) ? answer.action : undefined;
  if (action === 'accept' || action === 'decline' || action === 'cancel') return answer;
  throw new InvalidAnswerError('the handler of "elicitation/create" must give an action: "accept", "decline" or "cancel"');
}

/** What a form must have and the user left to its default is filled in always, the rest where the program wants that. */
function fill(content: ElicitContent = {}, { fields, defaults }: FormDescription, fillsAll: boolean): ElicitContent {
  const left = fields.filter(
    ({ name, isRequired }) => (fillsAll || isRequired) && !Object.hasOwn(content, name) && Object.hasOwn(defaults, name),
  );
  if (left.length === 0) return content;
  const filled = left.map(({ name }) => [name, defaults[name]] as const);
  return { ...(Object.fromEntries(filled) as ElicitContent), ...content };
}

function assertFits(content: ElicitContent, description: FormDescription): void {
  if (!isJsonObject(content)) throw new InvalidAnswerError('the content of an accepted form must be an object');
  const stray = Object.entries(content).find(([, value]) => !isFormValue(value));
  if (stray) throw new InvalidAnswerError(`the form's answer "${stray[0]}" must be text, a number, a boolean or a list of texts`);
  const [issue] = description.check(content);
  if (issue) throw new InvalidAnswerError(`the form's answer does not fit what was asked: "${issue.field}" ${issue.message}`);
}

function isFormValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.every((one) => typeof one === 'string');
  return typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

function refuse(message: string): ProtocolError {
  return new ProtocolError(INVALID_PARAMS, message);
}
