/**
 * Checks an elicitation, sampling or roots request to the client and sends it: as a JSON-RPC request in a legacy session, in an
 * `input_required` result in the modern era, or through the task if the handler runs as a task.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { linkSignals } from '@mortise/jsonrpc-core/connection';
import type { Revision } from '@mortise/protocol';
import { checkClientResult, missingCapability, toCapabilities } from '@mortise/protocol/checks';
import type { Ask } from '@mortise/protocol/contracts';
import { findRequest } from '@mortise/protocol/revisions';
import type { Context } from '../context.ts';
import { AskError, callOver } from '../errors.ts';
import { isKnownRequest } from '../method.ts';
import type { ClientRequestOptions, Session } from '../session.ts';
import { preparePage, prepareForm, toFormAdapter } from './forms.ts';
import { prepareSampling } from './sampling.ts';
import { traceAsk } from '../tracing.ts';

/** How many requests one call may send to its client. Ends a handler that samples from the client's model in an endless loop. */
const MAX_ASKS = 1_000;

/**
 * Checks a request to the client and converts it to its wire form. A method that MCP does not define is left unchanged.
 *
 * @throws {AskError} `ERR_INVALID_ASK`: the request breaks a rule of its method.
 * @throws {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: clients cannot show the form.
 */
export function prepareAsk(ask: Ask, context: Context): Ask {
  const { method, params = {} } = ask;
  if (method === 'sampling/createMessage') return { ...ask, params: prepareSampling(params, context) };
  if (method !== 'elicitation/create') return ask;
  if (params['mode'] === 'url') return { ...ask, params: preparePage(params, context) };
  return { ...ask, params: prepareForm(params, toFormAdapter(params['requestedSchema'], context.server.options.validator)) };
}

export async function send(context: Context, ask: Ask): Promise<JsonObject> {
  const { revision, session, taskRun } = context;
  if (!taskRun && !session) return askInRound(context, ask);
  // The client already has the response to this call, so it is not asked any more.
  if (context.isOver) throw context.signal.reason ?? callOver();
  if (session && !taskRun) requireSendable(session, revision, ask);
  requireClientCapability(ask, context);
  const toWire = revision.toWire.params.get(ask.method);
  const wired = toWire && ask.params ? { ...ask, params: toWire(ask.params) } : ask;
  const result = await (taskRun ? taskRun.ask(wired) : sendRequest(context, session as Session, wired));
  // A client that runs the request as a task answers with the task.
  const isTask = ask.params?.['task'] !== undefined && isJsonObject(result['task']);
  const problem = isTask ? undefined : checkClientResult(ask.method, result);
  if (problem !== undefined) throw new AskError('ERR_INVALID_ANSWER', `The client's answer to "${ask.method}" is malformed: ${problem}`);
  return revision.fromWire.results.get(ask.method)?.(result) ?? result;
}

async function askInRound(context: Context, ask: Ask): Promise<JsonObject> {
  const { revision, route, method } = context;
  if (route.facts?.inputRequired !== true)
    throw new AskError(
      'ERR_ASK_UNAVAILABLE',
      `"${ask.method}" cannot be sent while "${method}" is served in ${revision.version}: ask in a tool, prompt or resource handler`,
    );
  requireEmbeddable(ask, context);
  return (await context.openRound()).ask(ask);
}

async function sendRequest(context: Context, session: Session, ask: Ask): Promise<JsonObject> {
  context.askCount += 1;
  if (context.askCount > MAX_ASKS)
    throw new AskError('ERR_TOO_MANY_ASKS', `A call may ask its client ${MAX_ASKS} times at most: send fewer requests`);
  const { server, call, deadline, asking } = context;
  const resume = deadline && server.deadlines.pause(deadline);
  // When the call ends, all of its pending requests to the client are cancelled, also after one of them has failed.
  const { signal, dispose } = linkSignals(ask.signal, asking);
  const { timeoutMs, maxTimeoutMs, resetTimeoutOnProgress } = ask;
  const onProgress = ask.onProgress as ClientRequestOptions['onProgress'];
  const options = { call, signal, timeoutMs, maxTimeoutMs, resetTimeoutOnProgress, onProgress };
  try {
    return await traceAsk(ask, context, (params) => session.request(ask.method, params, options));
  } finally {
    dispose();
    resume?.();
  }
}

function requireSendable(session: Session, revision: Revision, { method }: Ask): void {
  if (isKnownRequest(method) && !findRequest(revision, method, 'server'))
    throw new AskError(
      'ERR_ASK_UNAVAILABLE',
      `"${method}" does not exist in ${revision.version}, the revision of this client: do not use it for this client`,
    );
  session.requireReachable(method);
  if (!session.isReady)
    throw new AskError('ERR_ASK_UNAVAILABLE', `"${method}" cannot be sent before the client's notifications/initialized: wait for it`);
}

/** @throws {AskError} `ERR_ASK_UNAVAILABLE`, `ERR_CLIENT_CAPABILITY`: revision or client do not allow this request in `inputRequests`. */
export function requireEmbeddable(ask: Ask, context: Context): void {
  const { revision } = context;
  if (revision.requests.get(ask.method)?.direction !== 'embedded')
    throw new AskError('ERR_ASK_UNAVAILABLE', `"${ask.method}" cannot be sent in ${revision.version}: it has no such request`);
  requireClientCapability(ask, context);
}

/**
 * Checks that the client declared the capability that a request to it needs.
 *
 * @throws {AskError} `ERR_CLIENT_CAPABILITY`, naming the missing capability.
 * @see 2026-07-28 basic/index#meta; 2025-11-25 basic/lifecycle#operation
 */
export function requireClientCapability(ask: Ask, { revision, client }: Context): void {
  const base = revision.requests.get(ask.method)?.clientCapability;
  if (base === undefined) return;
  const inner = findInnerNeed(ask);
  const needed = inner !== undefined && revision.clientCapabilities.has(inner) ? [base, inner] : [base];
  const name = missingCapability(client.capabilities, needed);
  if (name === undefined) return;
  const problem = `"${ask.method}" needs the client capability "${name}", which this client does not declare`;
  throw new AskError('ERR_CLIENT_CAPABILITY', problem, { requiredCapabilities: toCapabilities(name) });
}

function findInnerNeed({ method, params = {} }: Ask): string | undefined {
  if (method === 'elicitation/create') return params['mode'] === 'url' ? 'elicitation.url' : 'elicitation.form';
  const usesTools = params['tools'] !== undefined || params['toolChoice'] !== undefined;
  return method === 'sampling/createMessage' && usesTools ? 'sampling.tools' : undefined;
}
