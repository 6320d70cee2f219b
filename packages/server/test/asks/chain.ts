/** A client of the newest revision that goes through rounds by hand, message by message. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { type HandlerContext, McpServer, type McpServerOptions } from '@mortise/server';
import { type Loose, MODERN, type PeerOptions, type RawMessage, RawPeer, type Version } from '../raw-peer.ts';

export const everything: JsonObject = { roots: {}, sampling: { tools: {}, context: {} }, elicitation: { form: {}, url: {} } };

/** The answer to one question. */
export type Answer = (request: Loose, key: string) => JsonObject | undefined;

/** Answers whatever is asked. */
export const obliging: Answer = ({ method, params }) => {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///home/ann' }] };
  if (method === 'sampling/createMessage') return { role: 'assistant', content: { type: 'text', text: 'Paris' }, model: 'm' };
  return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { name: params.message } };
};

/** A form with one field. */
export const form = (message: string): { message: string; requestedSchema: Loose } => ({
  message,
  requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
});

/** What the user wrote into `form`. */
export async function askName(ctx: HandlerContext, message: string, key?: string): Promise<string> {
  const answer = await ctx.elicit(form(message), key === undefined ? {} : { key });
  return answer.action === 'accept' ? String((answer.content as Loose).name) : answer.action;
}

/** A server with one tool, `run`, and a peer that speaks the newest revision. */
export async function open(
  run: (ctx: HandlerContext, args: Loose) => unknown,
  options: McpServerOptions = {},
  peerOptions: PeerOptions = {},
): Promise<RawPeer> {
  return openPeer(serverOf(run, options), peerOptions);
}

export function serverOf(run: (ctx: HandlerContext, args: Loose) => unknown, options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'asks', version: '1' }, options);
  const inputSchema = { type: 'object', properties: { n: {} } } as const;
  const handler = async (args: Loose, ctx: HandlerContext): Promise<Loose> => toResult(await run(ctx, args));
  server.registerTool('run', { inputSchema }, handler);
  server.registerTool('other', { inputSchema }, handler);
  return server;
}

/** Strings and results stay, all else is told as JSON. */
function toResult(value: unknown): Loose {
  const isResult = typeof value === 'object' && value !== null && ('content' in value || 'resultType' in value);
  return typeof value === 'string' || isResult ? value : JSON.stringify(value ?? null);
}

export function openPeer(server: McpServer, options: PeerOptions = {}): Promise<RawPeer> {
  return RawPeer.open(server, MODERN, { capabilities: everything, ...options });
}

/** What a call came to. */
export interface Outcome {
  /** The results that asked, in order. */
  readonly asked: readonly Loose[];
  readonly result: Loose;
  readonly error: RawMessage['error'];
  readonly text: string | undefined;
}

/** Calls, answers what is asked, and calls again, until there is an end. */
export async function callThrough(
  peer: RawPeer,
  params: JsonObject = { name: 'run' },
  answer: Answer = obliging,
  method = 'tools/call',
): Promise<Outcome> {
  const asked: Loose[] = [];
  let round: JsonObject = {};
  for (;;) {
    const { result, error } = await peer.request(method, { ...params, ...round });
    if (result?.resultType !== 'input_required') return { asked, result, error, text: result?.content?.[0]?.text };
    asked.push(result);
    round = answerTo(result, answer);
  }
}

/** The members that a retry adds. */
export function answerTo(result: Loose, answer: Answer = obliging): JsonObject {
  const answers = Object.entries<Loose>(result.inputRequests ?? {}).map(([key, request]) => [key, answer(request, key)] as const);
  const given = answers.filter(([, value]) => value !== undefined);
  return { inputResponses: Object.fromEntries(given) as JsonObject, requestState: result.requestState };
}

/** What a call of `run` came to in a revision, and the questions that the client saw. */
export interface CalledIn {
  readonly asked: readonly { readonly method: string; readonly params: Loose }[];
  readonly result: Loose;
  readonly error: RawMessage['error'];
  readonly text: string | undefined;
  readonly peer: RawPeer;
}

/** Calls `run` in any revision, as a client of that revision does. */
export async function callIn(
  version: Version,
  server: McpServer,
  answer: (request: Loose) => Loose = (request) => obliging(request, ''),
  capabilities: JsonObject = everything,
): Promise<CalledIn> {
  const asked: { readonly method: string; readonly params: Loose }[] = [];
  const see = (request: Loose): Loose => {
    const { _meta, ...params } = request.params ?? {};
    asked.push({ method: request.method, params });
    return answer(request);
  };
  const peer = await RawPeer.open(server, version, { capabilities });
  peer.onRequest = see;
  if (version === MODERN) {
    const { result, error, text } = await callThrough(peer, { name: 'run' }, see);
    return { asked, result, error, text, peer };
  }
  const { result, error } = await peer.request('tools/call', { name: 'run' });
  return { asked, result, error, text: result?.content?.[0]?.text, peer };
}

/** The questions of a result that asked: their messages. */
export function messagesOf(result: Loose): string[] {
  return Object.values<Loose>(result.inputRequests).map(({ method, params }) => params?.message ?? method);
}
