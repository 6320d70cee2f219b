/**
 * Multi round-trip requests: a result that contains requests to the client, and the retry of the original request with the client's
 * answers. Since 2026-07-28.
 *
 * @see 2026-07-28 basic/patterns/mrtr
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { ElicitRequestParams, ElicitResult } from './elicitation.ts';
import type { RequestParams, Result } from './meta.ts';
import type { ListRootsResult } from './roots.ts';
import type { CreateMessageRequestParams, CreateMessageResult } from './sampling.ts';

/** A request to the client to ask the user for input, by a form or a web page. */
export interface ElicitRequest extends JsonObject {
  readonly method: 'elicitation/create';
  readonly params: ElicitRequestParams;
}

/** A request to the client to call a model. @deprecated since 2026-07-28: call a model provider's API from the server. */
export interface CreateMessageRequest extends JsonObject {
  readonly method: 'sampling/createMessage';
  readonly params: CreateMessageRequestParams;
}

/** A request to the client for its roots. @deprecated since 2026-07-28: use tool arguments, resource URIs or configuration. */
export interface ListRootsRequest extends JsonObject {
  readonly method: 'roots/list';
  readonly params?: RequestParams | undefined;
}

/** A request to the client inside an `input_required` result. It has no JSON-RPC id. */
export type InputRequest = ElicitRequest | CreateMessageRequest | ListRootsRequest;

/** The client's answer to an `InputRequest`: the result alone, without an id or `resultType`. */
export type InputResponse = ElicitResult | CreateMessageResult | ListRootsResult;

/** The requests to the client in an `input_required` result, by key. */
export interface InputRequests extends JsonObject {
  readonly [key: string]: InputRequest;
}

/** The client's answers, by the key of the `InputRequest` that each one answers. */
export interface InputResponses extends JsonObject {
  readonly [key: string]: InputResponse;
}

/** Tells the client to answer `inputRequests` and send its request again. Has `inputRequests`, `requestState` or both. */
export interface InputRequiredResult extends Result {
  readonly resultType: 'input_required';
  readonly inputRequests?: InputRequests | undefined;
  /** The server's state of the request. Opaque: the client sends this string back unchanged when it retries the request. */
  readonly requestState?: string | undefined;
}

/** The base of the params of methods that may get an `input_required` result: `tools/call`, `prompts/get`, `resources/read`. */
export interface InputResponseRequestParams extends RequestParams {
  readonly inputResponses?: InputResponses | undefined;
  readonly requestState?: string | undefined;
}

/** Tells whether a result is an `InputRequiredResult`. */
export function isInputRequired(result: Result): result is InputRequiredResult {
  return result.resultType === 'input_required';
}
