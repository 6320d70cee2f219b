/** Reads the `_meta` of modern requests: protocol version, client capabilities, client info, log level, progress token. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { id, later, object, string } from './checks/check.ts';
import { clientCapabilities } from './checks/from-client.ts';
import { implementation, level } from './checks/shapes.ts';
import type { ClientCapabilities } from './model/capabilities.ts';
import type { Implementation } from './model/implementation.ts';
import type { LoggingLevel } from './model/logging.ts';
import { META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_PROTOCOL_VERSION } from './model/meta.ts';
import type { ProgressToken } from './model/progress.ts';

/** The values in the `_meta` of a modern request. They apply to that request only. */
export interface RequestMetaFacts {
  /** The protocol version as received. It may be one that the server does not support. */
  readonly protocolVersion: string;
  readonly clientCapabilities: ClientCapabilities;
  readonly clientInfo: Implementation | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly progressToken: ProgressToken | undefined;
}

/**
 * Tells whether a request is of the modern era: its `_meta` has the protocol version or the client capabilities, whatever their values. A
 * request with only one of these two members is modern but invalid, and must get an error of the modern era.
 */
export function isModernParams(params: JsonObject | undefined): boolean {
  const meta = params?.['_meta'];
  if (typeof meta !== 'object' || meta === null) return false;
  return Object.hasOwn(meta, META_PROTOCOL_VERSION) || Object.hasOwn(meta, META_CLIENT_CAPABILITIES);
}

const checkMeta = later(() =>
  object({
    [META_PROTOCOL_VERSION]: string,
    [META_CLIENT_CAPABILITIES]: clientCapabilities,
    [`${META_CLIENT_INFO}?`]: implementation,
    [`${META_LOG_LEVEL}?`]: level,
    'progressToken?': id,
  }),
);

/**
 * Reads and checks the `_meta` of a modern request.
 *
 * @returns The values, or one sentence for a -32602 error if a mandatory value is missing or a value has the wrong type.
 * @see 2026-07-28 basic/index#meta
 */
export function readRequestMeta(params: JsonObject | undefined): RequestMetaFacts | string {
  const meta = params?.['_meta'];
  if (!isJsonObject(meta)) return `params._meta must be an object with ${META_PROTOCOL_VERSION} and ${META_CLIENT_CAPABILITIES}`;
  const reason = checkMeta(meta);
  if (reason !== undefined) return `params._meta${reason}`;
  return {
    protocolVersion: meta[META_PROTOCOL_VERSION] as string,
    clientCapabilities: meta[META_CLIENT_CAPABILITIES] as ClientCapabilities,
    clientInfo: meta[META_CLIENT_INFO] as Implementation | undefined,
    logLevel: meta[META_LOG_LEVEL] as LoggingLevel | undefined,
    progressToken: meta['progressToken'] as ProgressToken | undefined,
  };
}
