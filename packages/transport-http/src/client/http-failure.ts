/** What went wrong with a request: the JSON-RPC response in the body of an error status, or an error that keeps all facts. */

import {
  ConnectionClosedError,
  ExchangeHttpError,
  InvalidResponseError,
  isMortiseError,
  type JsonObject,
  type JsonRpcErrorObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonValue,
  ParseError,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { INVALID_REQUEST, isErrorObject, isJsonObject, parseJson } from '@mortise/jsonrpc-core/messages';
import { BytePieces } from '@mortise/protocol/edge';
import { JSON_TYPE, SSE_TYPE } from '../headers.ts';
import type { HttpAnswer, HttpCall } from './http-sender.ts';
import { mediaTypeOf } from './message-reader.ts';

/** Headers that say what to do next. The session's id is a secret and not among them. */
const KEPT_HEADERS: readonly string[] = ['www-authenticate', 'retry-after', 'content-type', 'location', 'allow'];
/** Statuses that say more than the body: who must not ask, and who is to come back later. */
const OWN_MEANING: readonly number[] = [401, 403, 407, 408, 425, 429, 502, 503, 504];
const MAX_TYPE_LENGTH = 60;
const MAX_ERROR_BYTES = 64 * 1024;

const WEB_PAGE = 'that is a web page and no MCP server: check the address';
const NO_MESSAGE = 'its body is neither JSON nor an event stream, so there is no MCP server at this address: check the address';

/** What a request is called in errors: without the query, which may hold secrets. */
export function describe({ method, url }: Pick<HttpCall, 'method' | 'url'>): string {
  const { origin, pathname } = new URL(url);
  return `${method} ${origin}${pathname}`;
}

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** A response with an error status. */
export interface HttpFailure {
  readonly error: ExchangeHttpError;
  /** What the body says in words, if anything. */
  readonly text: string;
  /** The JSON-RPC response to the request, where the body is one. */
  readonly response: JsonRpcResponse | undefined;
}

/** Reads an error's body, which is bounded and may be anything. Never rejects. */
export async function readFailure(call: HttpCall, answer: HttpAnswer, id?: RequestId): Promise<HttpFailure> {
  const type = mediaTypeOf(answer.header('content-type'));
  const body = await readShortText(answer);
  const value = isJson(type) ? tryParse(body) : undefined;
  const rpcError = isJsonObject(value) && isErrorObject(value['error']) ? value['error'] : undefined;
  const text = rpcError?.message ?? (type === 'text/plain' || value !== undefined ? body : '');
  const hasAnswer = rpcError !== undefined && answer.status >= 400 && !OWN_MEANING.includes(answer.status);
  const response = hasAnswer && !isUnread(value as JsonObject, rpcError) ? toOwnResponse(value as JsonObject, id) : undefined;
  return { text, response, error: toHttpError(call, answer, { rpcError }) };
}

/** An error for a response whose body is not read, or not what was expected. */
export function toHttpError(
  call: HttpCall,
  answer: HttpAnswer,
  { rpcError, hint }: { readonly rpcError?: JsonRpcErrorObject | undefined; readonly hint?: string } = {},
): ExchangeHttpError {
  const { status } = answer;
  const type = mediaTypeOf(answer.header('content-type'));
  const told = hint ?? rpcError?.message ?? (type === 'text/html' ? WEB_PAGE : isSuccess(answer) ? NO_MESSAGE : undefined);
  const isKnownType = type === '' || type === SSE_TYPE || isJson(type);
  const ofType = isKnownType ? '' : ` and a body of type "${type.slice(0, MAX_TYPE_LENGTH)}"`;
  const headers: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = answer.header(name);
    if (value !== undefined) headers[name] = value;
  }
  const message = `${describe(call)} was answered with HTTP status ${status}${ofType}${told === undefined ? '' : `: ${told}`}`;
  return new ExchangeHttpError(message, { status, rpcError, headers });
}

/** An error for a body that is JSON, or ends, and holds no response to the request. */
export function toNoResponse(url: string, { method, id }: JsonRpcRequest): InvalidResponseError {
  const what = `The answer of ${describe({ method: 'POST', url })} to "${method}" is not a response to its request (id ${JSON.stringify(id)})`;
  return new InvalidResponseError(`${what}: see that this is the address of an MCP server`);
}

/** An error for a response that did not come, though the head of its HTTP response did. @param error Why the body is over. */
export function toLostResponse(
  url: string,
  request: JsonRpcRequest,
  { error, isStream }: { readonly error: Error | undefined; readonly isStream: boolean },
): Error {
  const { method } = request;
  if (error === undefined && !isStream) return toNoResponse(url, request);
  if (error instanceof ParseError)
    return new InvalidResponseError(`The answer to "${method}" cannot be read: ${error.message}`, { cause: error });
  if (isMortiseError(error) && !(error instanceof ConnectionClosedError)) return error;
  const message = `${describe({ method: 'POST', url })} broke off before "${method}" was answered: whether it was carried out is not known`;
  return new ConnectionClosedError(message, error && { cause: error });
}

/**
 * The value as the response to a request, if it is one. An error without an id is: the response to one POST can belong to no other
 * request, and a server that refuses headers has not read the id.
 */
export function toOwnResponse(value: JsonValue, id: RequestId | undefined): JsonRpcResponse | undefined {
  if (id === undefined || !isJsonObject(value) || value['method'] !== undefined) return undefined;
  const own = value['id'];
  if (own === id) return value as unknown as JsonRpcResponse;
  return isNothing(own) && isErrorObject(value['error']) ? ({ ...value, id } as unknown as JsonRpcResponse) : undefined;
}

/** A server refuses what it has not read, for its path or its length: the address and the status say more than its words alone. */
function isUnread(value: JsonObject, { code }: JsonRpcErrorObject): boolean {
  return code === INVALID_REQUEST && isNothing(value['id']);
}

function isNothing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function isJson(type: string): boolean {
  return type === JSON_TYPE || type.endsWith('+json');
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** @returns An empty text for a body that is too long or breaks off. */
function readShortText(answer: HttpAnswer): Promise<string> {
  return new Promise((resolve) => {
    const pieces = new BytePieces();
    answer.read({
      onChunk(chunk) {
        pieces.push(chunk);
        if (pieces.length <= MAX_ERROR_BYTES) return;
        answer.abort();
        resolve('');
      },
      onEnd: (error) => resolve(error === undefined ? new TextDecoder().decode(pieces.join()) : ''),
    });
  });
}

// ---- no response at all

/** What OpenSSL says of a server that does not speak TLS; which of the two depends on its release. */
const NO_TLS = /:SSL routines:.*:(?:wrong version number|packet length too long):/;

const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['ECONNREFUSED', 'see that the server runs, and at this port'],
  ['ENOTFOUND', 'see that the host is spelt right'],
]);

/** An error for a request that got no response. */
export function toNetworkError(call: HttpCall, error: unknown): unknown {
  if (isMortiseError(error)) return error;
  return new ConnectionClosedError(`${describe(call)} was not answered: ${reasonOf(error)}`, { cause: error });
}

/** The innermost reason, in one line: `fetch` hides it as a cause of causes. */
function reasonOf(error: unknown): string {
  let inner = error;
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause instanceof Error; depth++) inner = inner.cause;
  if (!(inner instanceof Error)) return 'unknown reason';
  if (NO_TLS.test(inner.message))
    return 'the server does not speak TLS at this port. Begin the address with "http://", or name the port that does';
  const { code } = inner as { readonly code?: unknown };
  const reason = inner.message !== '' ? inner.message.replace(/\s+/g, ' ').trim() : typeof code === 'string' ? code : inner.name;
  const remedy = REMEDIES.get(code);
  return remedy === undefined ? reason : `${reason}: ${remedy}`;
}
