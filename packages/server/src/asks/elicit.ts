/** `ctx.elicit`: asks the user, by a form whose fields may be given as a schema of any library, or by a page. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { ElicitRequestParams, ElicitResult } from '@mortise/protocol/model';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import type { CallFacts } from '../call-facts.ts';
import type { AskOptions, ElicitFormRequest } from '../context.ts';
import { InvalidAnswerError, InvalidAskError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import type { ObjectSchema } from '../schema/infer.ts';
import { toAskOptions } from './ask-options.ts';
import { withDefaults } from './form-fields.ts';
import { prepareAsk, prepareForm, toFormAdapter } from './prepare-ask.ts';

const METHOD = 'elicitation/create';

/** @throws {InvalidAnswerError} `ERR_INVALID_ANSWER`: the user's client sent what the form does not allow. */
export async function elicit(
  facts: CallFacts,
  params: ElicitFormRequest<ObjectSchema> | ElicitRequestParams,
  options?: AskOptions,
): Promise<unknown> {
  if (!isJsonObject(params)) throw new InvalidAskError(`ctx.elicit({ message, requestedSchema }) needs an object, got a ${typeof params}`);
  const given = params as JsonObject;
  const how = toAskOptions(options);
  if (params.mode === 'url')
    return withoutContent((await facts.run.ask(prepareAsk({ method: METHOD, params: given, ...how }, facts))) as ElicitResult);
  const adapter = toFormAdapter(params.requestedSchema, facts);
  const result = (await facts.run.ask({ method: METHOD, params: prepareForm(given, adapter), ...how })) as ElicitResult;
  if (result.action !== 'accept') return withoutContent(result);
  return { ...result, content: await checkContent(adapter, result.content ?? {}) };
}

/** Only an accepted form has any. */
function withoutContent({ content: _none, ...rest }: ElicitResult): JsonObject {
  return rest;
}

async function checkContent(adapter: SchemaAdapter, content: JsonObject): Promise<unknown> {
  const filled = withDefaults(content, adapter.jsonSchema);
  const outcome = await adapter.validate(filled);
  if (!('issues' in outcome)) return outcome.value;
  throw new InvalidAnswerError(describeIssues(outcome.issues, { owner: 'The form', part: 'field', value: filled, showValues: false }));
}
