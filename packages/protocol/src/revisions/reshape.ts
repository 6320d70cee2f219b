/**
 * Functions that build the conversions of messages between revisions. A conversion returns its argument, not a copy, if there is nothing to
 * change. It does not check values: it leaves those of an unexpected type unchanged.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Convert } from './revision.ts';

/** Creates a conversion that drops the given members of an object. */
/* @__NO_SIDE_EFFECTS__ */
export function drop(...keys: readonly string[]): Convert {
  return (value) => {
    let copy: Record<string, JsonValue | undefined> | undefined;
    for (const key of keys) if (Object.hasOwn(value, key)) delete (copy ??= { ...value })[key];
    return copy ?? value;
  };
}

/** Returns a copy of an object with one member set; the same object if the member has that value already. */
export function set(value: JsonObject, key: string, field: JsonValue): JsonObject {
  return value[key] === field ? value : { ...value, [key]: field };
}

/** Creates a conversion that applies `convert` to the member `key` of an object, if that member is an object. */
/* @__NO_SIDE_EFFECTS__ */
export function mapField(key: string, convert: Convert): Convert {
  return (value) => {
    const field = value[key];
    return isJsonObject(field) ? set(value, key, convert(field)) : value;
  };
}

/** Creates a conversion that applies `convert` to each object in the array `key`. An array that it returns replaces the object. */
/* @__NO_SIDE_EFFECTS__ */
export function mapList(key: string, convert: (item: JsonObject) => JsonObject | readonly JsonObject[]): Convert {
  return (value) => {
    const list = value[key];
    if (!Array.isArray(list)) return value;
    let changed = false;
    const items = list.flatMap((item: JsonValue) => {
      if (!isJsonObject(item)) return [item];
      const next = convert(item);
      changed ||= next !== item;
      return next as JsonValue;
    });
    return changed ? { ...value, [key]: items } : value;
  };
}

/** Creates a conversion that applies `convert` to a message's member `key`, which is a content block or an array of content blocks. */
/* @__NO_SIDE_EFFECTS__ */
export function mapBlocks(key: string, convert: Convert): Convert {
  const one = mapField(key, convert);
  const many = mapList(key, convert);
  return (value) => (Array.isArray(value[key]) ? many(value) : one(value));
}

/** Creates a conversion that applies `convert` to every member of an object that is an object itself, whatever its name. */
/* @__NO_SIDE_EFFECTS__ */
export function mapValues(convert: (member: JsonObject, name: string) => JsonObject): Convert {
  return (value) => {
    let copy: Record<string, JsonValue | undefined> | undefined;
    for (const [name, member] of Object.entries(value)) {
      if (!isJsonObject(member)) continue;
      const next = convert(member, name);
      if (next !== member) (copy ??= { ...value })[name] = next;
    }
    return copy ?? value;
  };
}

/** Creates a conversion that applies the given conversions one after another. */
/* @__NO_SIDE_EFFECTS__ */
export function inTurn(...steps: readonly Convert[]): Convert {
  return (value) => steps.reduce((converted, step) => step(converted), value);
}

/** Returns a table with the same conversion for each of the given methods. */
/* @__NO_SIDE_EFFECTS__ */
export function each(methods: readonly string[], convert: Convert): Readonly<Record<string, Convert>> {
  return Object.fromEntries(methods.map((method) => [method, convert]));
}

/**
 * Adds a text block with the JSON of `structuredContent`, unless a text block has it already. Keeps `structuredContent`.
 *
 * @see 2026-07-28 server/tools#structured-content
 */
export function mirrorStructuredContent(result: JsonObject): JsonObject {
  const { structuredContent, content } = result;
  if (structuredContent === undefined) return result;
  const text = JSON.stringify(structuredContent);
  const blocks: readonly JsonValue[] = Array.isArray(content) ? content : [];
  if (blocks.some((block) => isMirror(block, text, structuredContent))) return result;
  return { ...result, content: [...blocks, { type: 'text', text }] };
}

/** Tells whether a text block contains the structured content as JSON, compact or indented by two spaces. */
function isMirror(block: JsonValue, compact: string, structured: JsonValue): boolean {
  const text = (block as JsonObject | null)?.['text'];
  return typeof text === 'string' && (text === compact || text === JSON.stringify(structured, null, 2));
}
