/** Reads `x-mcp-header`, the schema keyword that makes a client also send a tool argument in an `Mcp-Param-*` header. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { forEachSubschema } from './json-schema/check-json-schema.ts';

/** The keyword in a tool's input schema that names the HTTP header of an argument. */
export const PARAM_HEADER_KEYWORD = 'x-mcp-header';

/** A token, as names of HTTP headers must be. @see RFC 9110 section 5.6.2 */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MIRRORED_TYPES: readonly unknown[] = ['integer', 'string', 'boolean'];

/**
 * Finds the arguments of a tool that have an `x-mcp-header` keyword in its input schema.
 *
 * @param headers Filled with the path of each such argument, by the header name as written, also if the keyword is invalid.
 * @returns One sentence about the first invalid keyword; undefined if all are valid.
 * @see 2026-07-28 basic/transports/streamable-http#schema-extension
 */
export function readParamHeaders(inputSchema: JsonObject, headers: Map<string, readonly string[]>): string | undefined {
  const taken = new Set<string>();
  let fault: string | undefined;
  const visit = (schema: JsonObject, path: readonly string[], isReachable: boolean): void => {
    const header = Object.hasOwn(schema, PARAM_HEADER_KEYWORD) ? schema[PARAM_HEADER_KEYWORD] : undefined;
    if (header !== undefined) {
      const place = path.length === 0 ? 'the inputSchema itself' : `"${path.join('.')}"`;
      const reason = findFault(header, schema['type'], isReachable && path.length > 0, taken);
      if (reason !== undefined) fault ??= `${PARAM_HEADER_KEYWORD} of ${place} ${reason}`;
      taken.add(String(header).toLowerCase());
      headers.set(String(header), path);
    }
    forEachSubschema(schema, (sub, keyword, key) => visit(sub, [...path, String(key ?? keyword)], isReachable && keyword === 'properties'));
  };
  visit(inputSchema, [], true);
  return fault;
}

function findFault(header: JsonValue, type: JsonValue | undefined, isReachable: boolean, taken: ReadonlySet<string>): string | undefined {
  if (typeof header !== 'string' || !TOKEN.test(header))
    return `must be a header token (letters, digits and !#$%&'*+-.^_\`|~), got ${JSON.stringify(header)}`;
  if (!isReachable)
    return 'must be on a property that is reached only through "properties", not through arrays, "anyOf" and the like, or "$ref"';
  // `null` is allowed as a second type: the header is left out for a null argument.
  const types = [type].flat().filter((each) => each !== 'null');
  if (types.length !== 1 || !MIRRORED_TYPES.includes(types[0]))
    return `must be on a property of type integer, string or boolean, got ${JSON.stringify(type ?? 'no type')}`;
  return taken.has(header.toLowerCase()) ? `must be unique regardless of case, but "${header}" is used twice` : undefined;
}
