/** What an answer with an error status says: the JSON-RPC response in its body, or an error that keeps all its facts. */

import {
  ExchangeHttpError,
  InvalidResponseError,
  type JsonObject,
  type JsonRpcErrorObject,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type JsonValue,
  type RequestId,
} from '@mortise/jsonrpc-core';
import { INVALID_REQUEST, isErrorObject, isJsonObject, parseJson } from '@mortise/jsonrpc-core/messages';
import type { HttpAnswer, HttpCall } from './http-sender.ts';
import { JSON_TYPE, mediaTypeOf, readShortText, SSE_TYPE } from './message-reader.ts';
import { describe } from './wire.ts';

/** Headers that say what to do next. The session's id is a secret and not among them. */
const TOLD_HEADERS: readonly string[] = ['www-authenticate', 'retry-after', 'content-type', 'location', 'allow'];

const MAX_TYPE_LENGTH = 60;
/** How much of the body of an error is read. */
const MAX_ERROR_BYTES = 64 * 1024;

const NO_MESSAGE = 'its body is neither JSON nor an event stream, so there is no MCP server at this address: check the address';

/** An answer that is not what was hoped for. */
export interface HttpFailure {
  readonly status: number;
  readonly error: ExchangeHttpError;
  /** What the body says in words, where it says something. */
  readonly text: string;
  /** The JSON-RPC response to the request, where the body is one. */
  readonly response: JsonRpcResponse | undefined;
}

/** Reads an error's body, which is bounded and may be anything. Never rejects. */
export async function readFailure(call: HttpCall, answer: HttpAnswer, id: RequestId | undefined): Promise<HttpFailure> {
  const type = mediaTypeOf(answer.header('content-type'));
  const body = (await readShortText(answer, MAX_ERROR_BYTES)) ?? '';
  const value = isJson(type) ? tryParse(body) : undefined;
  const rpcError = isJsonObject(value) && isErrorObject(value['error']) ? value['error'] : undefined;
  const text = rpcError?.message ?? (type === 'text/plain' || value !== undefined ? body : '');
  const { status } = answer;
  const isOwn = rpcError !== undefined && isAnswer(status) && !isUnread(value as JsonObject, rpcError);
  const response = isOwn ? toOwnResponse(value as JsonObject, id) : undefined;
  return { status, text, response, error: toHttpError(call, answer, rpcError) };
}

/** An error for an answer whose body is not read. */
export function toHttpError(call: HttpCall, answer: HttpAnswer, rpcError?: JsonRpcErrorObject, hint?: string): ExchangeHttpError {
  const { status } = answer;
  const type = mediaTypeOf(answer.header('content-type'));
  const told = hint ?? rpcError?.message ?? (type === 'text/html' ? 'that is a web page and no MCP server: check the address' : undefined);
  const headers = Object.fromEntries(TOLD_HEADERS.flatMap((name) => toEntry(name, answer.header(name))));
  return new ExchangeHttpError(
    `${describe(call)} was answered with HTTP status ${status}${showType(type)}${told === undefined ? '' : `: ${told}`}`,
    {
      status,
      rpcError,
      headers,
    },
  );
}

/** An error for an answer whose body can hold no message. */
export function toNoMessage(call: HttpCall, answer: HttpAnswer): ExchangeHttpError {
  const isPage = mediaTypeOf(answer.header('content-type')) === 'text/html';
  return toHttpError(call, answer, undefined, isPage ? undefined : NO_MESSAGE);
}

/** An error for an answer that is JSON, or ends, and holds no response to the request. */
export function toNoResponse(call: HttpCall | undefined, { method, id }: JsonRpcRequest): InvalidResponseError {
  const from = call === undefined ? '' : ` of ${describe(call)}`;
  const what = `The answer${from} to "${method}" is not a response to its request (id ${JSON.stringify(id)})`;
  return new InvalidResponseError(`${what}: see that this is the address of an MCP server`);
}

/** Said only of a body that is none of MCP's. */
function showType(type: string): string {
  return type === '' || type === SSE_TYPE || isJson(type) ? '' : ` and a body of type "${type.slice(0, MAX_TYPE_LENGTH)}"`;
}

function isJson(type: string): boolean {
  return type === JSON_TYPE || type.endsWith('+json');
}

/**
 * The value as the response to a request, if it is one. An error without an id is: on an exchange of its own it can belong to no other,
 * and a server that refuses headers has not read the id.
 */
export function toOwnResponse(value: JsonValue, id: RequestId | undefined): JsonRpcResponse | undefined {
  if (id === undefined || !isJsonObject(value) || value['method'] !== undefined) return undefined;
  const own = value['id'];
  if (own === id) return value as unknown as JsonRpcResponse;
  const isForAnyone = (own === undefined || own === null) && isErrorObject(value['error']);
  return isForAnyone ? ({ ...value, id } as unknown as JsonRpcResponse) : undefined;
}

/** Who may not ask, and who is to come back later, learns it from the status; everything else from the body. */
function isAnswer(status: number): boolean {
  return status >= 400 && ![401, 403, 407, 408, 425, 429, 502, 503, 504].includes(status);
}

/** A server that turns away what it has not read, for its path or its length: the address and the status say more than these words alone. */
function isUnread(value: JsonObject, { code }: JsonRpcErrorObject): boolean {
  return code === INVALID_REQUEST && (value['id'] === undefined || value['id'] === null);
}

function toEntry(name: string, value: string | undefined): readonly (readonly [string, string])[] {
  return value === undefined ? [] : [[name, value]];
}

function tryParse(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
