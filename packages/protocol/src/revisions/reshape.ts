/**
 * The few moves that conversions are made of. Each returns its argument, not a copy, where there is nothing to change, and leaves
 * alone what does not have the expected shape: a conversion is no check.
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { Convert } from './revision.ts';

/** Drops members by name. */
/* @__NO_SIDE_EFFECTS__ */
export function drop(...keys: readonly string[]): Convert {
  return (value) => {
    let copy: Record<string, JsonValue | undefined> | undefined;
    for (const key of keys) if (Object.hasOwn(value, key)) delete (copy ??= { ...value })[key];
    return copy ?? value;
  };
}

/** Sets one member. */
export function set(value: JsonObject, key: string, field: JsonValue): JsonObject {
  return value[key] === field ? value : { ...value, [key]: field };
}

/** Converts one member that is an object. */
/* @__NO_SIDE_EFFECTS__ */
export function mapField(key: string, convert: Convert): Convert {
  return (value) => {
    const field = value[key];
    return isJsonObject(field) ? set(value, key, convert(field)) : value;
  };
}

/** Converts the objects of one member that is an array; a function that gives an array puts its items in place of one. */
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

/** Converts the objects of one member that is a block or an array of blocks. */
/* @__NO_SIDE_EFFECTS__ */
export function mapBlocks(key: string, convert: Convert): Convert {
  const one = mapField(key, convert);
  const many = mapList(key, convert);
  return (value) => (Array.isArray(value[key]) ? many(value) : one(value));
}

/** Converts every object among one object's members, whatever their names. */
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

/** One conversion after the other. */
/* @__NO_SIDE_EFFECTS__ */
export function inTurn(...steps: readonly Convert[]): Convert {
  return (value) => steps.reduce((converted, step) => step(converted), value);
}

/** The same conversion for several methods. */
/* @__NO_SIDE_EFFECTS__ */
export function each(methods: readonly string[], convert: Convert): Readonly<Record<string, Convert>> {
  return Object.fromEntries(methods.map((method) => [method, convert]));
}

/**
 * Adds `structuredContent` as a text block of JSON where no text block holds it already. Does not drop it.
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

/** Compact, or indented by two as people write it. */
function isMirror(block: JsonValue, compact: string, structured: JsonValue): boolean {
  const text = (block as JsonObject | null)?.['text'];
  return typeof text === 'string' && (text === compact || text === JSON.stringify(structured, null, 2));
}
