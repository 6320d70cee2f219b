/** Reads what a modern request says of itself in `_meta`. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { clientCapabilities as checkCapabilities } from './checks/from-client.ts';
import { implementation as checkImplementation } from './checks/shapes.ts';
import type { ClientCapabilities } from './model/capabilities.ts';
import type { Implementation } from './model/implementation.ts';
import { isLoggingLevel, LOGGING_LEVELS, type LoggingLevel } from './model/logging.ts';
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_PROTOCOL_VERSION } from './model/meta.ts';
import { isProgressToken, type ProgressToken } from './model/progress.ts';

/** What a modern request says of itself. Holds for this request and no other. */
export interface RequestMetaFacts {
  /** As it came; whether it is spoken here is asked next. */
  readonly protocolVersion: string;
  readonly clientCapabilities: ClientCapabilities;
  readonly clientInfo: Implementation | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly progressToken: ProgressToken | undefined;
}

/** Tells whether a request is modern: its `_meta` names a protocol version, well or badly. Looks at one key. */
export function isModernParams(params: JsonObject | undefined): boolean {
  const meta = params?.['_meta'];
  return typeof meta === 'object' && meta !== null && Object.hasOwn(meta, META_PROTOCOL_VERSION);
}

/**
 * Reads the facts of a modern request.
 *
 * @returns The facts, or one sentence for the -32602 when a mandatory one is missing or any has a wrong type.
 * @see 2026-07-28 basic/index#meta
 */
export function readRequestMeta(params: JsonObject | undefined): RequestMetaFacts | string {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return `params._meta must be an object with ${META_PROTOCOL_VERSION} and ${META_CLIENT_CAPABILITIES}`;
  const protocolVersion = meta[META_PROTOCOL_VERSION];
  if (typeof protocolVersion !== 'string') return wrong(META_PROTOCOL_VERSION, ' must be a string');
  const clientCapabilities = meta[META_CLIENT_CAPABILITIES];
  const badCapabilities = checkCapabilities(clientCapabilities);
  if (badCapabilities !== undefined) return wrong(META_CLIENT_CAPABILITIES, badCapabilities);
  const clientInfo = meta[META_CLIENT_INFO];
  const badInfo = clientInfo === undefined ? undefined : checkImplementation(clientInfo);
  if (badInfo !== undefined) return wrong(META_CLIENT_INFO, badInfo);
  const logLevel = meta[META_LOG_LEVEL];
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) return wrong(META_LOG_LEVEL, ` must be one of ${LOGGING_LEVELS.join(', ')}`);
  const { progressToken } = meta;
  if (progressToken !== undefined && !isProgressToken(progressToken)) return wrong('progressToken', ' must be a string or an integer');
  return {
    protocolVersion,
    clientCapabilities: clientCapabilities as ClientCapabilities,
    clientInfo: clientInfo as Implementation | undefined,
    logLevel,
    progressToken,
  };
}

function wrong(key: string, reason: string): string {
  return `params._meta["${key}"]${reason}`;
}
