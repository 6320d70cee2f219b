/** What becomes of an answer that could not be sent as it is. */

import { INTERNAL_ERROR } from '../error-codes.ts';
import type { JsonRpcResponse, RequestId } from '../message.ts';
import { serializeMessage } from '../serialize-message.ts';

/** One answer, or the answers to a batch. */
export type Answer = JsonRpcResponse | readonly JsonRpcResponse[];

/** Replaces what JSON cannot carry by -32603, so that its request is answered all the same; `undefined` if nothing is wrong with it. */
export function toSendable(answer: Answer): Answer | undefined {
  if (canSerialize(answer)) return undefined;
  return isBatch(answer)
    ? answer.map((response) => (canSerialize(response) ? response : toInternalError(response)))
    : toInternalError(answer);
}

function isBatch(answer: Answer): answer is readonly JsonRpcResponse[] {
  return Array.isArray(answer);
}

function canSerialize(answer: Answer): boolean {
  try {
    serializeMessage(answer);
    return true;
  } catch {
    return false;
  }
}

function toInternalError(response: JsonRpcResponse): JsonRpcResponse {
  return { jsonrpc: '2.0', id: response.id as RequestId, error: { code: INTERNAL_ERROR, message: 'Internal error' } };
}
