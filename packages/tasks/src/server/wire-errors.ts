/** The JSON-RPC errors that this package's own errors are told as. */

import { isMortiseError, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { TaskLimitError } from '../errors.ts';
import { TOO_MANY } from '../wire/names.ts';

/** Runs `fn` and turns what it throws into what is told; other errors pass. */
export async function telling<T>(fn: () => Promise<T>): Promise<T> {
  try {
    return await fn();
  } catch (error) {
    throw toProtocolError(error);
  }
}

function toProtocolError(error: unknown): unknown {
  if (!isMortiseError(error)) return error;
  switch (error.code) {
    case 'ERR_TASK_NOT_FOUND':
    case 'ERR_TASK_ANSWER':
      return new ProtocolError(INVALID_PARAMS, error.message);
    case 'ERR_TASK_LIMIT': {
      const { retryAfterMs } = error as TaskLimitError;
      return new ProtocolError(TOO_MANY, error.message, retryAfterMs === undefined ? undefined : { retryAfterMs });
    }
    default:
      return error;
  }
}
