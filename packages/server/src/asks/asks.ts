/** Everything that asks the client, loaded when a handler first asks. Here: what handlers call. */

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
 * `ctx.elicit`: asks the user with a form, whose fields may be a schema of any library, or with a page.
 *
 * @throws {AskError} `ERR_INVALID_ANSWER`: the client sent what the form does not allow.
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
