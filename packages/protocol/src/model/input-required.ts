/**
 * Multi round-trip requests: a result with questions to the client, and the retry with its answers. Since 2026-07-28.
 *
 * @see 2026-07-28 basic/patterns/mrtr
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ElicitRequestParams, ElicitResult } from './elicitation.ts';
import type { RequestParams, Result } from './meta.ts';
import type { ListRootsResult } from './roots.ts';
import type { CreateMessageRequestParams, CreateMessageResult } from './sampling.ts';

/** Asks the user, by a form or a web page. */
export interface ElicitRequest extends JsonObject {
  readonly method: 'elicitation/create';
  readonly params: ElicitRequestParams;
}

/** @deprecated since 2026-07-28: call a model provider's API from the server. */
export interface CreateMessageRequest extends JsonObject {
  readonly method: 'sampling/createMessage';
  readonly params: CreateMessageRequestParams;
}

/** @deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration. */
export interface ListRootsRequest extends JsonObject {
  readonly method: 'roots/list';
  readonly params?: RequestParams | undefined;
}

/** A question to the client in an `input_required` result. Has no request id. */
export type InputRequest = ElicitRequest | CreateMessageRequest | ListRootsRequest;

/** The client's answer to an `InputRequest`: the result alone, without an id or `resultType`. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** The server's questions by key. */
export interface InputRequests extends JsonObject {
  readonly [key: string]: InputRequest;
}

/** The client's answers, by the key of the question. */
export interface InputResponses extends JsonObject {
  readonly [key: string]: InputResponse;
}

/** Tells the client to answer `inputRequests` and send the request again. Has `inputRequests`, `requestState` or both. */
export interface InputRequiredResult extends Result {
  readonly resultType: 'input_required';
  readonly inputRequests?: InputRequests | undefined;
  /** Opaque: the client sends this string back unchanged. */
  readonly requestState?: string | undefined;
}

/** Params of the methods that may get an `input_required` result: `tools/call`, `prompts/get`, `resources/read`. */
export interface InputResponseRequestParams extends RequestParams {
  readonly inputResponses?: InputResponses | undefined;
  readonly requestState?: string | undefined;
}

/** Tells whether a result is an `InputRequiredResult`. */
export function isInputRequired(result: Result): result is InputRequiredResult {
  return result.resultType === 'input_required';
}
