/** Reads which arguments of a tool travel in HTTP headers too, and refuses an `x-mcp-header` that clients would refuse. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { forEachSubschema } from '@mortise/protocol/checks';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import { RegistrationError } from '../errors.ts';

const ANNOTATION = 'x-mcp-header';
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MIRRORED_TYPES: readonly unknown[] = ['integer', 'string', 'boolean'];

/**
 * The annotated arguments: the header's name as it is written, and the path of the argument; undefined where there are none.
 *
 * @throws {RegistrationError} `ERR_REGISTRATION`, naming the argument and the rule: a client drops a tool whose annotation is wrong.
 * @see 2026-07-28 basic/transports/streamable-http#schema-extension
 */
export function readParamHeaders(inputSchema: JsonObject, toolName: string): ParamHeaders | undefined {
  const headers = new Map<string, readonly string[]>();
  const taken = new Set<string>();
  const visit = (schema: JsonObject, path: readonly string[], isReachable: boolean): void => {
    const header = schema[ANNOTATION];
    if (header !== undefined) {
      const reason = findFault(header, schema, path, isReachable, taken);
      if (reason !== undefined)
        throw new RegistrationError(
          `tool "${toolName}": ${ANNOTATION} of ${path.length === 0 ? 'the inputSchema itself' : `"${path.join('.')}"`} ${reason}`,
        );
      taken.add(String(header).toLowerCase());
      headers.set(String(header), path);
    }
    forEachSubschema(schema, (sub, keyword, key) => visit(sub, [...path, String(key ?? keyword)], isReachable && keyword === 'properties'));
  };
  visit(inputSchema, [], true);
  return headers.size === 0 ? undefined : headers;
}

function findFault(
  header: JsonValue,
  schema: JsonObject,
  path: readonly string[],
  isReachable: boolean,
  taken: ReadonlySet<string>,
): string | undefined {
  if (typeof header !== 'string' || !TOKEN.test(header))
    return `must be a header token (letters, digits and !#$%&'*+-.^_\`|~), got ${JSON.stringify(header)}`;
  if (path.length === 0 || !isReachable)
    return 'must stand at a property that is reached through "properties" alone, not through a list, an alternative or a reference';
  if (!hasMirroredType(schema['type']))
    return `must stand at a property of type integer, string or boolean, got ${JSON.stringify(schema['type'] ?? 'no type')}`;
  if (reachesUnsafe(schema)) return 'must stand at an integer within ±(2^53 − 1): narrow its minimum and maximum';
  return taken.has(header.toLowerCase()) ? `must be unique whatever the case, but "${header}" is taken` : undefined;
}

/** `null` beside the type is fine: a header is left out for it. */
function hasMirroredType(type: JsonValue | undefined): boolean {
  const types = Array.isArray(type) ? type.filter((each: JsonValue) => each !== 'null') : [type];
  return types.length === 1 && MIRRORED_TYPES.includes(types[0]);
}

/** Bounds that allow integers which a header could not say exactly. No bound at all is the caller's own affair. */
function reachesUnsafe(schema: JsonObject): boolean {
  const { minimum, maximum } = schema;
  return (
    (typeof minimum === 'number' && minimum < Number.MIN_SAFE_INTEGER) || (typeof maximum === 'number' && maximum > Number.MAX_SAFE_INTEGER)
  );
}
