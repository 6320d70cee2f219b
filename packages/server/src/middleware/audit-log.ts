/** `auditLog()`: writes one record for each request: caller, method, outcome and duration. */

import { isMortiseError, type JsonObject, type ProtocolError, type RequestId } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { Principal } from '@mortise/protocol/contracts';
import { RegistrationError } from '../errors.ts';
import type { Middleware, MiddlewareCall } from './middleware.ts';

/** How a request ended. `failed`: with an `isError` result of a tool. `refused`: with a JSON-RPC error. */
export type AuditOutcome = 'ok' | 'failed' | 'refused' | 'cancelled';

/** What `auditLog` records of one request. */
export interface AuditRecord {
  /** When the request arrived, in milliseconds since the epoch. */
  readonly atMs: number;
  /** How long the request took, in milliseconds. */
  readonly durationMs: number;
  /** The method of the request, such as `tools/call`. */
  readonly method: string;
  /** The name of the tool or prompt, or the URI of the resource, that the request is about. Undefined for other methods. */
  readonly target: string | undefined;
  /** The caller: a verified identity, `local` or `anonymous`. */
  readonly principal: Principal;
  /** The OAuth client of the caller's token, if any. */
  readonly clientId: string | undefined;
  /** The request's JSON-RPC id. */
  readonly requestId: RequestId;
  /** The legacy session's id, if the transport has one. */
  readonly sessionId: string | undefined;
  /** The protocol version of the request. */
  readonly revision: string;
  /** How the request ended. */
  readonly outcome: AuditOutcome;
  /** The JSON-RPC error code, if the request ended with an error whose code is known. */
  readonly errorCode: number | undefined;
  /** The arguments of the request. Present only with the option `arguments`. */
  readonly arguments?: JsonObject | undefined;
}

/** Options of `auditLog`. */
export interface AuditLogOptions {
  /**
   * Adds the arguments of requests to the records. They may hold secrets and personal data. `true` adds them unchanged, a function chooses
   * what to add. `createRedactor()` makes a function that removes secrets.
   *
   * @default false
   */
  readonly arguments?: boolean | ((args: JsonObject, call: MiddlewareCall) => JsonObject | undefined) | undefined;
}

/**
 * Makes middleware that writes one record for each request after it has ended. To log one method only:
 * `server.use('tools/call', auditLog(write))`.
 *
 * Does NOT see what never reaches a method: an unknown method, invalid params, a refused token (401), a malformed HTTP request. Log those in
 * the web framework or proxy in front.
 *
 * @param write Called with each record. Requests do not wait for it. Its errors and rejections are dropped, so catch them inside.
 * @throws {RegistrationError} `ERR_REGISTRATION`: `write` is missing, or an option is unknown or invalid.
 */
export function auditLog(write: (record: AuditRecord) => unknown, options: AuditLogOptions = {}): Middleware {
  if (typeof (write as unknown) !== 'function')
    throw new RegistrationError('auditLog(write) needs a function that writes a record, such as (record) => console.error(record)');
  checkOptions('auditLog', options, { arguments: ['boolean', 'function'] }, RegistrationError);
  return async (call, next) => {
    const { clock } = call;
    const atMs = clock.now();
    const startMs = clock.monotonicMs();
    const report = (outcome: AuditOutcome, errorCode?: number): void => {
      const durationMs = clock.monotonicMs() - startMs;
      // Async, so that a throw and a rejection of `write` are handled the same way.
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
