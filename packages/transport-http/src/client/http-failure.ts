/** Reads HTTP responses with an error status: returns the JSON-RPC response in the body, or makes an error with the HTTP details. */

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
import type { Wire } from './wire.ts';

/** The response headers that errors show. The session id is left out, because it is secret. */
const KEPT_HEADERS: readonly string[] = ['www-authenticate', 'retry-after', 'content-type', 'location', 'allow'];
/** The HTTP statuses that are reported even if the body has a JSON-RPC error: missing permission, and "try again later". */
const OWN_MEANING: readonly number[] = [401, 403, 407, 408, 425, 429, 502, 503, 504];
const MAX_TYPE_LENGTH = 60;
const MAX_ERROR_BYTES = 64 * 1024;

const WEB_PAGE = 'that is a web page and no MCP server: check the URL';
const LOST_BEHIND_PROXY = 'a proxy did not reach the server, or lost it: the request may have run';
const NO_MESSAGE = 'its body is neither JSON nor an event stream, so there is no MCP server at this URL: check the URL';

/** Names an HTTP request in error messages, as method and URL. Leaves out the query, which may contain secrets. */
export function describe({ method, url }: Pick<HttpCall, 'method' | 'url'>): string {
  const { origin, pathname } = new URL(url);
  return `${method} ${origin}${pathname}`;
}

export function isSuccess({ status }: HttpAnswer): boolean {
  return status >= 200 && status < 300;
}

/** The content of an HTTP response with an error status. */
export interface HttpFailure {
  readonly error: ExchangeHttpError;
  /** The error message in the response body; empty if there is none. */
  readonly text: string;
  /** The JSON-RPC response in the body, if it responds to the request that was sent. */
  readonly response: JsonRpcResponse | undefined;
}

/** Reads the body of an HTTP response with an error status, within limits of size and time. Never rejects. */
export async function readFailure(wire: Wire, call: HttpCall, answer: HttpAnswer, id?: RequestId): Promise<HttpFailure> {
  const type = mediaTypeOf(answer.header('content-type'));
  const body = await readShortText(wire, answer);
  const value = isJson(type) ? tryParse(body) : undefined;
  const rpcError = isJsonObject(value) && isErrorObject(value['error']) ? value['error'] : undefined;
  const text = rpcError?.message ?? (type === 'text/plain' || value !== undefined ? body : '');
  const hasAnswer = rpcError !== undefined && answer.status >= 400 && !OWN_MEANING.includes(answer.status);
  const response = hasAnswer && !isUnread(value as JsonObject, rpcError) ? toOwnResponse(value as JsonObject, id) : undefined;
  return { text, response, error: toHttpError(call, answer, { rpcError }) };
}

function explainStatus(status: number, type: string): string | undefined {
  if (status === 502 || status === 504) return LOST_BEHIND_PROXY;
  if (type === 'text/html') return WEB_PAGE;
  return status < 300 ? NO_MESSAGE : undefined;
}

/** Makes an error for an HTTP response that failed: its status is an error, or its body is not what MCP expects. */
export function toHttpError(
  call: HttpCall,
  answer: HttpAnswer,
  { rpcError, hint }: { readonly rpcError?: JsonRpcErrorObject | undefined; readonly hint?: string } = {},
): ExchangeHttpError {
  const { status } = answer;
  const type = mediaTypeOf(answer.header('content-type'));
  const told = hint ?? rpcError?.message ?? explainStatus(status, type);
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

/** Makes the error for an HTTP response that is complete but does not contain the JSON-RPC response to the request. */
export function toNoResponse(url: string, { method, id }: JsonRpcRequest): InvalidResponseError {
  const what = `The HTTP response of ${describe({ method: 'POST', url })} to "${method}" (id ${JSON.stringify(id)})`;
  return new InvalidResponseError(`${what} does not contain the JSON-RPC response: check that this is the URL of an MCP server`);
}

/** Makes an error for an HTTP response that ended without the JSON-RPC response. @param error Why it ended; undefined for a normal end. */
export function toLostResponse(
  url: string,
  request: JsonRpcRequest,
  { error, isStream }: { readonly error: Error | undefined; readonly isStream: boolean },
): Error {
  const { method } = request;
  if (error === undefined && !isStream) return toNoResponse(url, request);
  if (error instanceof ParseError)
    return new InvalidResponseError(`The HTTP response to "${method}" cannot be read: ${error.message}`, { cause: error });
  if (isMortiseError(error) && !(error instanceof ConnectionClosedError)) return error;
  const message = `${describe({ method: 'POST', url })} ended before the response to "${method}": the server may or may not have handled the request`;
  return new ConnectionClosedError(message, error && { cause: error });
}

/**
 * Returns the value if it is the JSON-RPC response to the request. An error response without an id counts too: one POST has one response,
 * and a server that refuses the headers has not read the id.
 */
export function toOwnResponse(value: JsonValue, id: RequestId | undefined): JsonRpcResponse | undefined {
  if (id === undefined || !isJsonObject(value) || value['method'] !== undefined) return undefined;
  const own = value['id'];
  if (own === id) return value as unknown as JsonRpcResponse;
  return isNothing(own) && isErrorObject(value['error']) ? ({ ...value, id } as unknown as JsonRpcResponse) : undefined;
}

/** Whether the server refused the request before reading its id. The HTTP status and URL then say more than the JSON-RPC error. */
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

/** Reads an error body as text. @returns An empty text if the body is too long, does not end soon or is incomplete. */
function readShortText(wire: Wire, answer: HttpAnswer): Promise<string> {
  return new Promise((resolve) => {
    const pieces = new BytePieces();
    const onEnd = wire.letEnd(answer, () => resolve(''));
    answer.read({
      onChunk(chunk) {
        pieces.push(chunk);
        if (pieces.length <= MAX_ERROR_BYTES) return;
        onEnd();
        answer.abort();
        resolve('');
      },
      onEnd(error) {
        onEnd();
        resolve(error === undefined ? new TextDecoder().decode(pieces.join()) : '');
      },
    });
  });
}

// ---- no HTTP response

/** The errors of different OpenSSL versions when the client uses TLS but the server does not. */
const NO_TLS = /:SSL routines:.*:(?:wrong version number|packet length too long):/;

const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['ECONNREFUSED', 'check that the server runs on this port'],
  ['ENOTFOUND', 'check the spelling of the host'],
]);

/** Makes an error for a request that got no HTTP response. */
export function toNetworkError(call: HttpCall, error: unknown): unknown {
  if (isMortiseError(error)) return error;
  return new ConnectionClosedError(`${describe(call)} got no response: ${reasonOf(error)}`, { cause: error });
}

/** Returns the innermost cause of a network error in one line. `fetch` wraps the cause several times. */
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
