/** Reads which arguments of a tool are also sent in HTTP headers. An `x-mcp-header` that clients would reject is an error at registration. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { PARAM_HEADER_KEYWORD, readParamHeaders as readHeaders } from '@mortise/protocol/checks';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import { RegistrationError } from '../errors.ts';

/**
 * Returns the HTTP headers that a tool's `x-mcp-header` annotations name, each with the path of its argument. Undefined if there are none.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`, naming the argument and the rule. Clients ignore a tool with an invalid annotation.
 * @see 2026-07-28 basic/transports/streamable-http#schema-extension
 */
export function readParamHeaders(inputSchema: JsonObject, toolName: string): ParamHeaders | undefined {
  const headers = new Map<string, readonly string[]>();
  const fault = readHeaders(inputSchema, headers) ?? findUnsafe(inputSchema, headers);
  if (fault !== undefined) throw new RegistrationError(`tool "${toolName}": ${fault}`);
  return headers.size === 0 ? undefined : headers;
}

/** Finds an integer argument whose bounds exceed the safe integers, which a header cannot hold exactly. A missing bound is accepted. */
function findUnsafe(inputSchema: JsonObject, headers: ParamHeaders): string | undefined {
  for (const path of headers.values()) {
    const { minimum, maximum } = path.reduce((schema, name) => (schema['properties'] as JsonObject)[name] as JsonObject, inputSchema);
    if (isUnsafe(minimum) || isUnsafe(maximum))
      return `${PARAM_HEADER_KEYWORD} of "${path.join('.')}" must be on an integer within ±(2^53 − 1): narrow its minimum and maximum`;
  }
  return undefined;
}

function isUnsafe(bound: JsonValue | undefined): boolean {
  return typeof bound === 'number' && Math.abs(bound) > Number.MAX_SAFE_INTEGER;
}
