/** `x-mcp-header`: arguments of a tool that HTTP clients mirror in headers. */

import { isJsonObject, type JsonObject } from '@mortise/jsonrpc-core';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import { RegistrationError } from '../errors.ts';

const ANNOTATION = 'x-mcp-header';
const HEADER_PREFIX = 'Mcp-Param-';
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const MAX_DEPTH = 64;

/**
 * Collects the annotated arguments of an input schema.
 *
 * @returns Header names with the paths of their arguments; undefined where there are none.
 * @throws {RegistrationError} `ERR_REGISTRATION`: an annotation breaks a rule.
 * @see 2026-07-28 server/tools#x-mcp-header
 */
export function collectParamHeaders(schema: JsonObject, toolName: string): ParamHeaders | undefined {
  const headers = new Map<string, readonly string[]>();
  const seen = new Set<string>();
  const fail = (reason: string): never => {
    throw new RegistrationError(`tool "${toolName}": ${ANNOTATION} ${reason}`);
  };
  const visitProperties = (owner: JsonObject, path: readonly string[]): void => {
    for (const [name, property] of Object.entries(isJsonObject(owner['properties']) ? owner['properties'] : {})) {
      if (isJsonObject(property)) visitProperty(property, [...path, name]);
    }
    refuseElsewhere(owner, path, fail);
  };
  const visitProperty = (property: JsonObject, path: readonly string[]): void => {
    if (Object.hasOwn(property, ANNOTATION)) {
      const name = property[ANNOTATION];
      const place = `of argument "${path.join('.')}"`;
      if (typeof name !== 'string' || !TOKEN.test(name)) return fail(`${place} must be a header name: letters, digits and !#$%&'*+-.^_\`|~`);
      if (!TYPES.includes(property['type'])) return fail(`${place} needs the type string, integer or boolean`);
      if (seen.has(name.toLowerCase())) return fail(`${place} is "${name}", which another argument has: names differ in more than case`);
      seen.add(name.toLowerCase());
      headers.set(HEADER_PREFIX + name, path);
    }
    if (path.length < MAX_DEPTH) visitProperties(property, path);
  };
  visitProperties(schema, []);
  return headers.size === 0 ? undefined : headers;
}

/** Annotations may stand under `properties` only. */
function refuseElsewhere(owner: JsonObject, path: readonly string[], fail: (reason: string) => never): void {
  for (const [keyword, value] of Object.entries(owner)) {
    if (keyword === 'properties' || keyword === 'default' || keyword === 'const' || keyword === 'enum' || keyword === 'examples') continue;
    if (holdsAnnotation(value, 0)) fail(`stands under "${[...path, keyword].join('.')}": only arguments reached by "properties" alone may have it`);
  }
}

function holdsAnnotation(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
  if (isJsonObject(value) && Object.hasOwn(value, ANNOTATION)) return true;
  return Object.values(value).some((inner) => holdsAnnotation(inner, depth + 1));
}
