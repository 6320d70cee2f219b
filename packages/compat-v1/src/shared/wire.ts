/** What carries the requests and notifications of a `Protocol`, and how its errors look to a v1 program. */

import {
  ConnectionClosedError,
  ConnectionLostError,
  isMortiseError,
  type JsonObject,
  type RequestId,
  RemoteError,
  TimeoutError,
} from '@mortise/jsonrpc-core';
import { toV1HttpError } from '../client/http-errors.ts';
import { ErrorCode, McpError, type MessageExtraInfo, type Notification, type Progress, type Request, type Result } from '../types.ts';
import type { Protocol } from './protocol.ts';

export type AnyProtocol = Protocol<Request, Notification, Result>;

/** The options of a request, as the layers below know them. */
export interface WireRequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly resetTimeoutOnProgress: boolean;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly relatedRequestId?: RequestId | undefined;
}

/** One connection. */
export interface Wire {
  open(): Promise<void>;
  request(method: string, params: JsonObject | undefined, options: WireRequestOptions): Promise<JsonObject>;
  notify(method: string, params: JsonObject | undefined, relatedRequestId: RequestId | undefined): Promise<void>;
  close(): Promise<void>;
  /** Called when the handler of a request method was set or removed. */
  handle(method: string, isSet: boolean): void;
  /** The same for notifications. */
  listen(method: string, isSet: boolean): void;
}

/** What the handler of a request can know and do, from whichever layer the request came. */
export interface Inbound {
  readonly signal: AbortSignal;
  readonly sessionId: string | undefined;
  readonly info: MessageExtraInfo | undefined;
}

/** Returns what a v1 program sees in place of an error of the layers below. */
export function toMcpError(
  error: unknown,
  { signal, maxTotalTimeout }: { readonly signal?: AbortSignal | undefined; readonly maxTotalTimeout?: number | undefined },
): unknown {
  const remote = error instanceof Error && error.cause instanceof RemoteError ? error.cause : error;
  if (remote instanceof RemoteError) return McpError.fromError(remote.rpcCode, remote.message, remote.data);
  if (error instanceof TimeoutError) {
    const { timeoutMs } = error;
    return timeoutMs === maxTotalTimeout
      ? new McpError(ErrorCode.RequestTimeout, 'Maximum total timeout exceeded', { maxTotalTimeout })
      : new McpError(ErrorCode.RequestTimeout, 'Request timed out', { timeout: timeoutMs });
  }
  if (error instanceof ConnectionClosedError || error instanceof ConnectionLostError)
    return Object.assign(new McpError(ErrorCode.ConnectionClosed, 'Connection closed'), { cause: error });
  if (isMortiseError(error) && error.code === 'ERR_CLIENT_CAPABILITY') return new McpError(ErrorCode.MethodNotFound, error.message);
  if (signal?.aborted === true && error === signal.reason && !(error instanceof McpError))
    return new McpError(ErrorCode.RequestTimeout, String(error));
  return toV1HttpError(error);
}

/** Returns the JSON-RPC error for what a v1 handler threw: its own code, or -32603, with its message. */
export function toErrorObject(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  const { code, message, data } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
  return {
    code: Number.isSafeInteger(code) ? (code as number) : ErrorCode.InternalError,
    message: typeof message === 'string' ? message : 'Internal error',
    ...(data !== undefined && { data }),
  };
}
