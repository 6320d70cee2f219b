/** `auditLog()`: one record for each request, of who did what, how it ended and how long it took. */

import { type Clock, isMortiseError, type JsonObject, type ProtocolError, type RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { Principal } from '@mortise/protocol/contracts';
import { RegistrationError } from '../errors.ts';
import type { Middleware, MiddlewareCall } from './middleware.ts';

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

/** What is written. */
export interface AuditLogOptions {
  /**
   * Adds a request's arguments: they may hold secrets and personal data. `true` for all as they are, a function to choose;
   * `createRedactor()` makes one that takes secrets out.
   *
   * @default false
   */
  readonly arguments?: boolean | ((args: JsonObject, call: MiddlewareCall) => JsonObject | undefined) | undefined;
  /** @default the platform's clock */
  readonly clock?: Clock | undefined;
}

/**
 * Writes one record a request, after it has ended. For the requests of one method alone: `server.use('tools/call', auditLog(write))`.
 *
 * @param write Is given each record. A request does not wait for it. What it throws or rejects with is dropped: catch it there to learn of it.
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is not known, or has an invalid value.
 */
export function auditLog(write: (record: AuditRecord) => unknown, options: AuditLogOptions = {}): Middleware {
  checkOptions('auditLog', options, { arguments: ['boolean', 'function'], clock: 'object' }, RegistrationError);
  const { clock = systemClock } = options;
  return async (call, next) => {
    const atMs = clock.now();
    const startMs = clock.monotonicMs();
    const report = (outcome: AuditOutcome, errorCode?: number): void => {
      const durationMs = clock.monotonicMs() - startMs;
      // Async, so that what `write` throws and what it rejects with are one.
      const written = (async () => write({ atMs, durationMs, ...describe(call, options.arguments), outcome, errorCode }))();
      written.catch(() => undefined);
    };
    try {
      const result = await next();
      report(result['isError'] === true ? 'failed' : 'ok');
      return result;
    } catch (error) {
      report(call.signal.aborted ? 'cancelled' : 'refused', codeOf(error));
      throw error;
    }
  };
}

function describe(
  call: MiddlewareCall,
  choose: AuditLogOptions['arguments'],
): Omit<AuditRecord, 'atMs' | 'durationMs' | 'outcome' | 'errorCode'> {
  const { method, target, principal, auth, requestId, sessionId, revision, params } = call;
  const who = { method, target, principal, clientId: auth?.clientId, requestId, sessionId, revision: revision.version };
  const args = params['arguments'];
  if (!choose || !isJsonObject(args)) return who;
  return { ...who, arguments: choose === true ? args : choose(args, call) };
}

function codeOf(error: unknown): number | undefined {
  return isMortiseError(error) && error.code === 'ERR_PROTOCOL' ? (error as ProtocolError).rpcCode : undefined;
}
