/** `ctx.elicit`: asks the user, by a form whose fields may be given as a schema of any library. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ElicitRequestParams, ElicitResult } from '@mortise/protocol';
import type { SchemaAdapter } from '@mortise/protocol/contracts';
import type { CallFacts } from '../call-facts.ts';
import type { AskOptions, ElicitFormRequest } from '../context.ts';
import { InvalidAnswerError } from '../errors.ts';
import { describeIssues } from '../schema/describe-issues.ts';
import type { ObjectSchema } from '../schema/infer.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import { toAskOptions } from './ask-options.ts';

/** @throws {InvalidAnswerError} `ERR_INVALID_ANSWER`: the user's client sent what the form does not allow. */
export async function elicit(
  facts: CallFacts,
  params: ElicitFormRequest<ObjectSchema> | ElicitRequestParams,
  options?: AskOptions,
): Promise<unknown> {
  if (params.mode === 'url') return facts.run.ask({ method: 'elicitation/create', params, ...toAskOptions(options) });
  const { requestedSchema, ...rest } = params as ElicitFormRequest<ObjectSchema>;
  const adapter = toSchemaAdapter(requestedSchema, 'elicitation', 'form', { validator: facts.core.options.validator });
  const sent = { ...rest, requestedSchema: adapter.jsonSchema } as JsonObject;
  const result = (await facts.run.ask({ method: 'elicitation/create', params: sent, ...toAskOptions(options) })) as ElicitResult;
  return result.action === 'accept' ? { ...result, content: await checkContent(adapter, result.content ?? {}) } : result;
}

async function checkContent(adapter: SchemaAdapter, content: JsonObject | undefined): Promise<unknown> {
  const outcome = await adapter.validate(content);
  if (!('issues' in outcome)) return outcome.value;
  throw new InvalidAnswerError(describeIssues(outcome.issues, { owner: 'The form', part: 'field', value: content, showValues: false }));
}
