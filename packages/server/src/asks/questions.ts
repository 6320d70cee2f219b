/** Questions as handlers write them: checked, brought into the form that the wire has, and their answers checked. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ElicitResult, ListRootsResult } from '@mortise/protocol/model';
import type { Ask, SchemaAdapter } from '@mortise/protocol/contracts';
import type { Context } from '../context.ts';
import { AskError } from '../errors.ts';
import type { AskOptions } from '../handler-context.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { toFormSchema } from '../schema/form-schema.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import { isTooMuch } from '../session-state.ts';
import { checkPageUrl, toWireForm, withDefaults } from './forms.ts';
import { checkSamplingAnswer, checkToolOutputs, hasToolOutputs, prepareSampling } from './sampling-rules.ts';

/**
 * `ctx.elicit`: asks the user, by a form whose fields may be given as a schema of any library, or by a page.
 *
 * @throws {AskError} `ERR_INVALID_ANSWER`: the user's client sent what the form does not allow.
 */
export async function elicit(context: Context, params: unknown, options?: AskOptions): Promise<unknown> {
  if (!isJsonObject(params))
    throw new AskError('ERR_INVALID_ASK', `ctx.elicit({ message, requestedSchema }) needs an object, got a ${typeof params}`);
  const ask = { method: 'elicitation/create', params, ...toAskOptions(options) };
  if (params['mode'] === 'url') return withoutContent((await context.ask(prepareAsk(ask, context))) as ElicitResult);
  const adapter = toFormAdapter(params['requestedSchema'], context);
  const result = (await context.ask({ ...ask, params: prepareForm(params, adapter) })) as ElicitResult;
  if (result.action !== 'accept') return withoutContent(result);
  const content = withDefaults(result.content ?? {}, adapter.jsonSchema);
  const outcome = await adapter.validate(content);
  if (!('issues' in outcome)) return { ...result, content: outcome.value };
  throw new AskError(
    'ERR_INVALID_ANSWER',
    describeIssues(outcome.issues, { owner: 'The form', part: 'field', value: content, showValues: false }),
  );
}

/** Only an accepted form has content. */
function withoutContent({ content: _none, ...rest }: ElicitResult): JsonObject {
  return rest;
}

/**
 * `ctx.sample` and `ctx.sendRequest`.
 *
 * @throws {AskError} `ERR_INVALID_ASK` {AskError} `ERR_INVALID_ANSWER` and whatever `Context.ask` rejects with.
 */
export async function askClient(context: Context, method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject> {
  const ask = prepareAsk({ method, ...(params ? { params } : {}), ...toAskOptions(options) }, context);
  if (method !== 'sampling/createMessage' || !ask.params) return context.ask(ask);
  if (hasToolOutputs(ask.params)) await checkToolOutputs(ask.params, context.server.options.validator);
  const answer = await context.ask(ask);
  const problem = checkSamplingAnswer(ask.params, answer);
  if (problem !== undefined) throw new AskError('ERR_INVALID_ANSWER', `The client's answer does not fit: ${problem}`);
  return answer;
}

/** `ctx.listRoots`: what the session keeps, where its client tells of changes; else the client is asked. */
export function listRoots(context: Context, options?: AskOptions): Promise<ListRootsResult> {
  const { session, revision, client } = context;
  const tellsOfChanges = revision.notifications.has('notifications/roots/list_changed') && client.capabilities.roots?.listChanged === true;
  const ask = (): Promise<ListRootsResult> =>
    askClient(context, 'roots/list', undefined, options) as Promise<JsonObject> as Promise<ListRootsResult>;
  if (!session || !tellsOfChanges || options) return ask();
  if (session.roots) return session.roots;
  const asked = ask();
  session.roots = asked;
  const forget = (): void => {
    if (session.roots === asked) session.roots = undefined;
  };
  // What failed may succeed the next time. What is too much to be kept lives as long as the calls that asked for it.
  asked.then((result) => {
    if (isTooMuch(result)) forget();
  }, forget);
  return asked;
}

/** The part of an `Ask` that options give; what is not given is left out. */
function toAskOptions({ key, signal, timeoutMs }: AskOptions = {}): Pick<Ask, 'key' | 'signal' | 'timeoutMs'> {
  return { ...(key === undefined ? {} : { key }), ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}

/**
 * Checks a question and brings it into the form that the wire has. One that MCP does not define passes.
 *
 * @throws {AskError} `ERR_INVALID_ASK`: it breaks a rule of its kind.
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a form that clients could not show.
 */
export function prepareAsk(ask: Ask, context: Context): Ask {
  const { method, params = {} } = ask;
  if (method === 'sampling/createMessage') return { ...ask, params: prepareSampling(params, context) };
  if (method !== 'elicitation/create') return ask;
  if (params['mode'] === 'url') return { ...ask, params: preparePage(params, context) };
  return { ...ask, params: prepareForm(params, toFormAdapter(params['requestedSchema'], context)) };
}

/** The schema of a form, of any library. */
function toFormAdapter(requestedSchema: unknown, { server }: Context): SchemaAdapter {
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
