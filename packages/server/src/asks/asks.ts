/** Implements `ctx.elicit`, `ctx.sample`, `ctx.listRoots` and `ctx.sendRequest`. Loaded only when a handler first calls one of them. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask } from '@mortise/protocol/contracts';
import type { ElicitResult, ListRootsResult } from '@mortise/protocol/model';
import type { Context } from '../context.ts';
import { AskError } from '../errors.ts';
import type { AskOptions } from '../handler-context.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import { isTooMuch } from '../session-state.ts';
import { prepareForm, toFormAdapter, withDefaults } from './forms.ts';
import { checkSamplingAnswer, checkToolOutputs } from './sampling.ts';
import { prepareAsk } from './send.ts';

export { askInstead } from './by-hand.ts';
export { openRound } from './round.ts';
export { resume } from './round-state.ts';
export { send } from './send.ts';

/**
 * Implements `ctx.elicit`: requests input from the user by a form or a URL. The form may be a schema of any library, such as z.object().
 *
 * @throws {AskError} `ERR_INVALID_ANSWER`: the client's answer does not fit the form's schema.
 */
export async function elicit(context: Context, params: unknown, options?: AskOptions): Promise<unknown> {
  if (!isJsonObject(params))
    throw new AskError('ERR_INVALID_ASK', `ctx.elicit({ message, requestedSchema }) needs an object, got a ${typeof params}`);
  const ask = { method: 'elicitation/create', params, ...toAskOptions(options) };
  if (params['mode'] === 'url') return withoutContent((await context.ask(prepareAsk(ask, context))) as ElicitResult);
  const adapter = toFormAdapter(params['requestedSchema'], context.server.options.validator);
  const result = (await context.ask({ ...ask, params: prepareForm(params, adapter) })) as ElicitResult;
  if (result.action !== 'accept') return withoutContent(result);
  const content = withDefaults(result.content ?? {}, adapter.jsonSchema);
  const outcome = await adapter.validate(content);
  if (!('issues' in outcome)) return { ...result, content: outcome.value };
  const about = { owner: 'The form', part: 'field', value: content, showValues: false };
  throw new AskError('ERR_INVALID_ANSWER', describeIssues(outcome.issues, about));
}

/** Removes `content` from an elicitation result: only the result of an accepted form may have it. */
function withoutContent({ content: _none, ...rest }: ElicitResult): JsonObject {
  return rest;
}

/**
 * Implements `ctx.sample` and `ctx.sendRequest`: sends a request to the client and returns its result.
 *
 * @throws {AskError} `ERR_INVALID_ASK`, `ERR_INVALID_ANSWER`, and the errors of `Context.ask`.
 */
export async function askClient(context: Context, method: string, params?: JsonObject, options?: AskOptions): Promise<JsonObject> {
  const ask = prepareAsk({ method, ...(params ? { params } : {}), ...toAskOptions(options) }, context);
  if (method !== 'sampling/createMessage') return context.ask(ask);
  const { params: conversation = {} } = ask;
  if (conversation['tools'] !== undefined) await checkToolOutputs(conversation, context);
  const answer = await context.ask(ask);
  checkSamplingAnswer(conversation, answer);
  return answer;
}

/** Implements `ctx.listRoots`: sends `roots/list` once per call, or once until the roots change if the client announces changes. */
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
  // Not kept in the session: a list that is too long, and a failure.
  asked.then(
    (result) => isTooMuch(result) && forget(),
    () => {
      context.roots = undefined;
      forget();
    },
  );
  return asked;
}

/** Returns the options as members of an `Ask` (a request to the client), without those that are undefined. */
function toAskOptions({ key, signal, timeoutMs }: AskOptions = {}): Pick<Ask, 'key' | 'signal' | 'timeoutMs'> {
  return { ...(key === undefined ? {} : { key }), ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
}
