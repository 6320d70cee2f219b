/**
 * Reads from a tool's schema which of its arguments travel in `Mcp-Param-*` headers.
 *
 * @see 2026-07-28 basic/transports/streamable-http#schema-extension
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { isHeaderToken } from '../headers.ts';

/** The keyword that marks an argument. */
export const PARAM_HEADER_KEYWORD = 'x-mcp-header';

const MIRRORED_TYPES: readonly unknown[] = ['integer', 'string', 'boolean'];

/** Keywords whose value is one schema or a list of them. */
const SCHEMA_KEYWORDS: readonly string[] = [
  'items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains', 'additionalProperties', 'unevaluatedProperties',
  'propertyNames', 'contentSchema', 'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else',
]; // prettier-ignore

/** Keywords whose value has a schema at each key. `properties` is apart: only through it is an argument reached. */
const MAP_KEYWORDS: readonly string[] = ['patternProperties', 'dependentSchemas', 'dependencies', '$defs', 'definitions'];

/** A mark that does not hold, or undefined where all do. */
export type ParamHeaderFault = string | undefined;

/**
 * Gathers the marked arguments into `headers`: the name after `Mcp-Param-`, and the path of the argument.
 *
 * @returns What is wrong with a mark, as one sentence; undefined where nothing is.
 */
export function readParamHeaders(inputSchema: JsonObject, headers: Map<string, readonly string[]>): ParamHeaderFault {
  return new SchemaWalk(headers).visit(inputSchema, [], true);
}

class SchemaWalk {
  readonly #headers: Map<string, readonly string[]>;
  readonly #taken = new Set<string>();

  constructor(headers: Map<string, readonly string[]>) {
    this.#headers = headers;
  }

  /** @param path How the schema is reached, for words and, as long as `isReachable`, for reading arguments. */
  visit(schema: JsonValue | undefined, path: readonly string[], isReachable: boolean): ParamHeaderFault {
    if (Array.isArray(schema)) return this.#visitAll(Object.entries(schema as readonly JsonValue[]), path, false);
    if (!isJsonObject(schema)) return undefined;
    const header = Object.hasOwn(schema, PARAM_HEADER_KEYWORD) ? schema[PARAM_HEADER_KEYWORD] : undefined;
    if (header !== undefined) {
      const fault = this.#take(header, schema, path, isReachable);
      if (fault !== undefined) return `${PARAM_HEADER_KEYWORD} of "${path.join('.')}" ${fault}`;
    }
    return this.#visitParts(schema, path, isReachable);
  }

  #visitParts(schema: JsonObject, path: readonly string[], isReachable: boolean): ParamHeaderFault {
    const { properties } = schema;
    const below = isJsonObject(properties) ? this.#visitAll(Object.entries(properties), path, isReachable) : undefined;
    if (below !== undefined) return below;
    for (const keyword of SCHEMA_KEYWORDS) {
      const fault = this.visit(schema[keyword], [...path, keyword], false);
      if (fault !== undefined) return fault;
    }
    for (const keyword of MAP_KEYWORDS) {
      const map = schema[keyword];
      const fault = isJsonObject(map) ? this.#visitAll(Object.entries(map), [...path, keyword], false) : undefined;
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  #visitAll(
    entries: readonly (readonly [string, JsonValue | undefined])[],
    path: readonly string[],
    isReachable: boolean,
  ): ParamHeaderFault {
    for (const [key, schema] of entries) {
      const fault = this.visit(schema, [...path, key], isReachable);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  #take(header: JsonValue, schema: JsonObject, path: readonly string[], isReachable: boolean): ParamHeaderFault {
    if (typeof header !== 'string' || !isHeaderToken(header)) return 'is not a name that a header can have';
    if (path.length === 0 || !isReachable) return 'does not stand at a property that is reached through "properties" alone';
    if (!hasMirroredType(schema['type'])) return 'stands at a property that is not an integer, a string or a boolean';
    const folded = header.toLowerCase();
    if (this.#taken.has(folded)) return `is "${header}" for a second time`;
    this.#taken.add(folded);
    this.#headers.set(header, path);
    return undefined;
  }
}

/** `null` beside the type is fine: its header is left out. */
function hasMirroredType(type: JsonValue | undefined): boolean {
  const types = Array.isArray(type) ? (type as readonly JsonValue[]).filter((each) => each !== 'null') : [type];
  return types.length === 1 && MIRRORED_TYPES.includes(types[0]);
}
