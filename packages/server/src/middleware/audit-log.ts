/** `auditLog()`: one record for each request, of who did what, how it ended and how long it took. */

import type { Clock, JsonObject, RequestId } from '@mortise/jsonrpc-core';
import { isMortiseError, type ProtocolError } from '@mortise/jsonrpc-core';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { Principal } from '@mortise/protocol/contracts';
import type { Middleware, MiddlewareCall } from './middleware.ts';
import { isThenable } from '../thenable.ts';

/** How a request ended: `failed` is a result with `isError`, `refused` an error of the protocol. */
export type AuditOutcome = 'ok' | 'failed' | 'refused' | 'cancelled';

/** What is written of one request. */
export interface AuditRecord {
  /** When it came, in milliseconds since the epoch. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly method: string;
  /** The tool's or prompt's name, or the resource's URI. */
  readonly target: string | undefined;
  readonly principal: Principal;
  readonly clientId: string | undefined;
  readonly requestId: RequestId;
  readonly sessionId: string | undefined;
  /** The version of the revision. */
  readonly revision: string;
  readonly outcome: AuditOutcome;
  /** The JSON-RPC error code of a refused request, where it is known. */
  readonly errorCode: number | undefined;
  /** Only where `arguments` was asked for. */
  readonly arguments?: JsonObject | undefined;
}

/** What is written, and of what. */
export interface AuditLogOptions {
  /** The methods that are written. @default all */
  readonly methods?: readonly string[] | undefined;
  /**
   * Adds a request's arguments: they may hold secrets and personal data. `true` for all as they are, a function to choose;
   * `createRedactor()` makes one that takes secrets out.
   *
   * @default false
   */
  readonly arguments?: boolean | ((args: JsonObject, call: MiddlewareCall) => JsonObject | undefined);
  /** Told when `write` throws or rejects; the request goes on, also if this fails in turn. @default nothing */
  readonly onError?: ((error: unknown) => void | Promise<void>) | undefined;
  /** @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/**
 * Writes one record a request, after it has ended.
 *
 * @param write Is given each record. A request does not wait for it, and does not fail with it: see `onError`.
 */
export function auditLog(write: (record: AuditRecord) => unknown, options: AuditLogOptions = {}): Middleware {
  const { methods, clock = systemClock } = options;
  // Waits for what may be a promise, so that its rejection is nobody's.
  const onError = async (error: unknown): Promise<void> => options.onError?.(error);
  const audited = methods === undefined ? undefined : new Set(methods);
  const report = (call: MiddlewareCall, start: Start, end: End): void => {
    try {
      const written = write({ ...describe(call, start, clock), ...end, ...describeArguments(call, options.arguments) });
      if (isThenable(written)) Promise.resolve(written).catch(onError).catch(ignore);
    } catch (error) {
      onError(error).catch(ignore);
    }
  };
  return async (call, next) => {
    if (audited !== undefined && !audited.has(call.method)) return next();
    const start: Start = { atMs: clock.now(), monotonicMs: clock.monotonicMs() };
    try {
      const result = await next();
      report(call, start, { outcome: result['isError'] === true ? 'failed' : 'ok', errorCode: undefined });
      return result;
    } catch (error) {
      report(call, start, { outcome: call.signal.aborted ? 'cancelled' : 'refused', errorCode: codeOf(error) });
      throw error;
    }
  };
}

function ignore(): void {
  // Whoever is told of errors has failed: there is nobody left to tell.
}

interface Start {
  readonly atMs: number;
  readonly monotonicMs: number;
}

type End = Pick<AuditRecord, 'outcome' | 'errorCode'>;

function describe(call: MiddlewareCall, start: Start, clock: Clock): Omit<AuditRecord, keyof End> {
  return {
    atMs: start.atMs,
    durationMs: clock.monotonicMs() - start.monotonicMs,
    method: call.method,
    target: call.target,
    principal: call.principal,
    clientId: call.auth?.clientId,
    requestId: call.requestId,
    sessionId: call.sessionId,
    revision: call.revision.version,
  };
}

function describeArguments(call: MiddlewareCall, choose: AuditLogOptions['arguments']): { readonly arguments?: JsonObject | undefined } {
  const given = call.params['arguments'];
  if (choose === undefined || choose === false || typeof given !== 'object' || given === null) return {};
  const args = given as JsonObject;
  return { arguments: choose === true ? args : choose(args, call) };
}

function codeOf(error: unknown): number | undefined {
  return isMortiseError(error) && error.code === 'ERR_PROTOCOL' ? (error as ProtocolError).rpcCode : undefined;
}
