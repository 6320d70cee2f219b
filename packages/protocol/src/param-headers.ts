/** Which arguments of a tool travel in `Mcp-Param-*` headers too: the `x-mcp-header` keyword of its schema, read alike by server and client. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { forEachSubschema } from './json-schema/check-json-schema.ts';

/** The keyword that marks an argument. */
export const PARAM_HEADER_KEYWORD = 'x-mcp-header';

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MIRRORED_TYPES: readonly unknown[] = ['integer', 'string', 'boolean'];

/**
 * Gathers the marked arguments: each header's name as it is written, and the path of the argument.
 *
 * @param headers Is filled, also where a later mark is wrong.
 * @returns What is wrong with a mark, as one sentence; undefined where nothing is.
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
    return 'must stand at a property that is reached through "properties" alone, not through a list, an alternative or a reference';
  // `null` beside the type is fine: the header is left out for it.
  const types = [type].flat().filter((each) => each !== 'null');
  if (types.length !== 1 || !MIRRORED_TYPES.includes(types[0]))
    return `must stand at a property of type integer, string or boolean, got ${JSON.stringify(type ?? 'no type')}`;
  return taken.has(header.toLowerCase()) ? `must be unique whatever the case, but "${header}" is taken` : undefined;
}
