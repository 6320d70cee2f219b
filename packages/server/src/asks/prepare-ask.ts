/** Questions as handlers write them, checked and brought into the wire's form. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Ask, SchemaAdapter } from '@mortise/protocol/contracts';
import type { Context } from '../context.ts';
import { AskError } from '../errors.ts';
import { checkPageUrl, toFormAdapter } from './forms.ts';
import { prepareSampling } from './sampling.ts';

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
  return { ...ask, params: prepareForm(params, toFormAdapter(params['requestedSchema'], context.server.options.validator)) };
}

/** @see 2026-07-28 client/elicitation#form-mode-elicitation-requests */
export function prepareForm(params: JsonObject, adapter: SchemaAdapter): JsonObject {
  requireMessage(params);
  const { mode: _mode, requestedSchema: _schema, ...rest } = params;
  return { mode: 'form', ...rest, requestedSchema: adapter.jsonSchema };
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
