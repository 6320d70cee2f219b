/** Everything that asks the client, loaded when a handler first asks. Here: the questions that handlers ask, checked before and after. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask, SchemaAdapter } from '@mortise/protocol/contracts';
import type { ElicitResult, ListRootsResult } from '@mortise/protocol/model';
import type { Context } from '../context.ts';
import { AskError } from '../errors.ts';
import type { AskOptions } from '../handler-context.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { toFormSchema } from '../schema/form-schema.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import { isTooMuch } from '../session-state.ts';
import { checkPageUrl, toWireForm, withDefaults } from './forms.ts';
import { checkSamplingAnswer, checkToolOutputs, prepareSampling } from './sampling.ts';

export { askInstead } from './by-hand.ts';
export { openRound, resume } from './round-state.ts';
export { send } from './send.ts';

/**
 * `ctx.elicit`: asks the user with a form, whose fields may be a schema of any library, or with a page.
 *
 * @throws {AskError} `ERR_INVALID_ANSWER`: the client sent what the form does not allow.
 */
export async function elicit(context: Context, params: unknown, options?: AskOptions): Promise<unknown> {
  if (!isJsonObject(params))
    throw new AskError('ERR_INVALID_ASK', `ctx.elicit({ message, requestedSchema }) needs an object, got a ${typeof params}`);
  const ask = { method: 'elicitation/create', params, ...toAskOptions(options) };
  if (params['mode'] === 'url') return withoutContent((await context.ask(prepareAsk(ask, context))) as ElicitResult);
  const adapter = toFormAdapter(params, context);
  const result = (await context.ask({ ...ask, params: prepareForm(params, adapter) })) as ElicitResult;
  if (result.action !== 'accept') return withoutContent(result);
  const content = withDefaults(result.content ?? {}, adapter.jsonSchema);
  const outcome = await adapter.validate(content);
  if (!('issues' in outcome)) return { ...result, content: outcome.value };
  const about = { owner: 'The form', part: 'field', value: content, showValues: false };
  throw new AskError('ERR_INVALID_ANSWER', describeIssues(outcome.issues, about));
}

/** Only an accepted form has content. */
function withoutContent({ content: _none, ...rest }: ElicitResult): JsonObject {
  return rest;
}

/** `ctx.sample` and `ctx.sendRequest`. @throws {AskError} `ERR_INVALID_ASK`, `ERR_INVALID_ANSWER`, and whatever `Context.ask` rejects with. */
export async function askClient(context: Context, method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject> {
  const ask = prepareAsk({ method, ...(params ? { params } : {}), ...toAskOptions(options) }, context);
  if (method !== 'sampling/createMessage') return context.ask(ask);
  const { params: conversation = {} } = ask;
  if (conversation['tools'] !== undefined) await checkToolOutputs(conversation, context);
  const answer = await context.ask(ask);
  checkSamplingAnswer(conversation, answer);
  return answer;
}

/** `ctx.listRoots`: asks once a call, and once a session where the client announces changes. */
export function listRoots(context: Context, options?: AskOptions): Promise<ListRootsResult> {
  const ask = (): Promise<ListRootsResult> =>
    askClient(context, 'roots/list', undefined, options) as Promise<JsonObject> as Promise<ListRootsResult>;
  if (options) return ask();
  const { revision, client } = context;
  const announcesChanges =
    client.capabilities.roots?.listChanged === true && revision.notifications.has('notifications/roots/list_changed');
  const session = announcesChanges ? context.session : undefined;
  const kept = context.roots ?? session?.roots;
  if (kept) return (context.roots = kept);
  const asked = ask();
  context.roots = asked;
  if (session) session.roots = asked;
  const forget = (): void => {
    if (session?.roots === asked) session.roots = undefined;
  };
  // A list that is too long to keep lives as long as the calls that asked for it. A failure is not kept at all.
  asked.then(
    (result) => isTooMuch(result) && forget(),
    () => {
      context.roots = undefined;
      forget();
    },
  );
  return asked;
}

/** The part of an `Ask` that options give; what is not given is left out. */
function toAskOptions({ key, signal, timeoutMs }: AskOptions = {}): Pick<Ask, 'key' | 'signal' | 'timeoutMs'> {
  return { ...(key === undefined ? {} : { key }), ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

/**
 * Checks a question and brings it into the wire's form. A method that MCP does not define passes as it is.
 *
 * @throws {AskError} `ERR_INVALID_ASK`: it breaks a rule of its kind.
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a form that clients could not show.
 */
export function prepareAsk(ask: Ask, context: Context): Ask {
  const { method, params = {} } = ask;
  if (method === 'sampling/createMessage') return { ...ask, params: prepareSampling(params, context) };
  if (method !== 'elicitation/create') return ask;
  if (params['mode'] === 'url') return { ...ask, params: preparePage(params, context) };
  return { ...ask, params: prepareForm(params, toFormAdapter(params, context)) };
}

function toFormAdapter({ requestedSchema }: JsonObject, { server }: Context): SchemaAdapter {
  return toSchemaAdapter(requestedSchema, 'elicitation', 'form', { validator: server.options.validator, narrow: toFormSchema });
}

/** @see 2026-07-28 client/elicitation#form-mode-elicitation-requests */
function prepareForm(params: JsonObject, adapter: SchemaAdapter): JsonObject {
  requireMessage(params);
  const { mode: _mode, requestedSchema: _schema, ...rest } = params;
  return { mode: 'form', ...rest, requestedSchema: toWireForm(adapter.jsonSchema) };
}

/** @see 2026-07-28 client/elicitation#url-mode-elicitation-requests */
function preparePage(params: JsonObject, { revision }: Context): JsonObject {
  requireMessage(params);
  checkPageUrl(params['url']);
  const { elicitationId, ...rest } = params;
  // Where the wire has no ids, a random one would make each run ask something else.
  return revision.rules.elicitationIds ? { ...rest, elicitationId: elicitationId ?? crypto.randomUUID() } : rest;
}

function requireMessage({ message }: JsonObject): void {
  if (typeof message !== 'string' || message === '')
    throw new AskError('ERR_INVALID_ASK', 'elicitation/create needs a "message" that says why it asks');
}
