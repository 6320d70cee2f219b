/** From a question as its author wrote it to the one that may be put to the client. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Ask, SchemaAdapter } from '@mortise/protocol/contracts';
import type { CallFacts } from '../call-facts.ts';
import { InvalidAskError } from '../errors.ts';
import { toFormSchema } from '../schema/form-schema.ts';
import { toSchemaAdapter } from '../schema/to-schema-adapter.ts';
import { toWireForm } from './form-fields.ts';
import { checkPageUrl } from './page-url.ts';
import { prepareSampling } from './sampling-rules.ts';

/** What a question is about, as far as preparing it needs to know. */
export type AskSubject = Pick<CallFacts, 'core' | 'revision' | 'client'>;

/**
 * Checks a question and brings it into the form that the wire has. One that MCP does not define passes.
 *
 * @throws {InvalidAskError} `ERR_INVALID_ASK`: it breaks a rule of its kind.
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a form that clients could not show.
 */
export function prepareAsk(ask: Ask, subject: AskSubject): Ask {
  const { method, params = {} } = ask;
  if (method === 'sampling/createMessage') return { ...ask, params: prepareSampling(params, subject) };
  if (method !== 'elicitation/create') return ask;
  if (params['mode'] === 'url') return { ...ask, params: preparePage(params, subject) };
  return { ...ask, params: prepareForm(params, toFormAdapter(params['requestedSchema'], subject)) };
}

/** The schema of a form, of any library. */
export function toFormAdapter(requestedSchema: unknown, { core }: Pick<AskSubject, 'core'>): SchemaAdapter {
  return toSchemaAdapter(requestedSchema, 'elicitation', 'form', { validator: core.options.validator, narrow: toFormSchema });
}

/** @see 2026-07-28 client/elicitation#form-mode-elicitation-requests */
export function prepareForm(params: JsonObject, adapter: SchemaAdapter): JsonObject {
  requireMessage(params);
  const { mode: _mode, requestedSchema: _schema, ...rest } = params;
  return { mode: 'form', ...rest, requestedSchema: toWireForm(adapter.jsonSchema) };
}

/** @see 2026-07-28 client/elicitation#url-mode-elicitation-requests */
function preparePage(params: JsonObject, { revision }: AskSubject): JsonObject {
  requireMessage(params);
  checkPageUrl(params['url']);
  const { elicitationId, ...rest } = params;
  // Where the wire has no ids, a random one would make each run ask something else.
  return revision.rules.elicitationIds ? { ...rest, elicitationId: elicitationId ?? crypto.randomUUID() } : rest;
}

function requireMessage({ message }: JsonObject): void {
  if (typeof message !== 'string' || message === '')
    throw new InvalidAskError('elicitation/create needs a "message" that says why it asks');
}

/** A question inside a result that a handler wrote by hand. */
export function readInputRequest(key: string, request: unknown): Ask {
  const { method, params } = isJsonObject(request) ? request : {};
  if (typeof method !== 'string' || (params !== undefined && !isJsonObject(params)))
    throw new InvalidAskError(`inputRequests[${JSON.stringify(key)}] must be { method, params }`);
  return { method, key, ...(params === undefined ? {} : { params }) };
}
