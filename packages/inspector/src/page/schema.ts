/** What a form needs to know of a JSON Schema from a server: references followed, unions listed, first values. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';

export type FieldKind = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'choice' | 'union' | 'object' | 'array' | 'any';

/** A value that a choice offers. */
export interface Choice {
  readonly value: JsonValue;
  readonly label: string;
}

/** Deeper than any form that a person fills in; a schema may contain itself. */
const MAX_DEPTH = 12;
const MAX_REFERENCES = 32;

/** Follows references within the schema, and joins the parts of `allOf`. References elsewhere accept anything. */
export function resolve(schema: unknown, root: JsonObject): JsonObject {
  let found = isJsonObject(schema) ? schema : {};
  for (let count = 0; typeof found['$ref'] === 'string'; count++) {
    const target = count < MAX_REFERENCES ? follow(found['$ref'], root) : undefined;
    const { $ref, ...beside } = found;
    found = { ...(isJsonObject(target) ? target : {}), ...beside };
  }
  const { allOf, ...own } = found;
  if (!Array.isArray(allOf)) return found;
  return allOf
    .slice(0, MAX_REFERENCES)
    .reduce<JsonObject>((all, part) => join(all, isJsonObject(part) && part['$ref'] === undefined ? part : resolveOnce(part, root)), own);
}

function resolveOnce(part: unknown, root: JsonObject): JsonObject {
  const target = isJsonObject(part) && typeof part['$ref'] === 'string' ? follow(part['$ref'], root) : undefined;
  return isJsonObject(target) ? target : {};
}

function follow(reference: string, root: JsonObject): unknown {
  if (!reference.startsWith('#')) return undefined;
  const steps = reference.slice(1).split('/').slice(1);
  const names = steps.map((step) => decode(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((at, name) => (Object.hasOwn(Object(at) as object, name) ? (at as JsonObject)[name] : undefined), root);
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function join(one: JsonObject, other: JsonObject): JsonObject {
  const properties = { ...(one['properties'] as JsonObject | undefined), ...(other['properties'] as JsonObject | undefined) };
  const required = [...namesIn(one['required']), ...namesIn(other['required'])];
  return { ...other, ...one, ...(Object.keys(properties).length > 0 && { properties }), ...(required.length > 0 && { required }) };
}

export const namesIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/** The properties of an object's schema, in the server's order. */
export const propertiesOf = (schema: JsonObject): readonly [string, unknown][] =>
  isJsonObject(schema['properties']) ? Object.entries(schema['properties']) : [];

/** How to draw a resolved schema. */
export function kindOf(schema: JsonObject): FieldKind {
  if (choicesOf(schema)) return 'choice';
  if (optionsOf(schema)) return 'union';
  const { type } = schema;
  if (
    type === 'string' ||
    type === 'number' ||
    type === 'integer' ||
    type === 'boolean' ||
    type === 'null' ||
    type === 'object' ||
    type === 'array'
  )
    return type;
  if (isJsonObject(schema['properties'])) return 'object';
  return isJsonObject(schema['items']) ? 'array' : 'any';
}

/** The values of an enumeration: `enum`, `const`, or a union of constants. */
export function choicesOf(schema: JsonObject): readonly Choice[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [toChoice(schema['const'] as JsonValue)];
  const names = namesIn(schema['enumNames']);
  if (Array.isArray(schema['enum'])) return schema['enum'].map((value, at) => toChoice(value as JsonValue, names[at]));
  const parts = partsOf(schema);
  if (!parts?.every((part) => isJsonObject(part) && Object.hasOwn(part, 'const'))) return undefined;
  return (parts as readonly JsonObject[]).map(({ const: value, title }) =>
    toChoice(value as JsonValue, typeof title === 'string' ? title : undefined),
  );
}

const toChoice = (value: JsonValue, label?: string): Choice => ({
  value,
  label: label ?? (typeof value === 'string' ? value : JSON.stringify(value)),
});

/** The alternatives of a union, one of which is filled in. */
export function optionsOf(schema: JsonObject): readonly unknown[] | undefined {
  const parts = partsOf(schema);
  if (parts) return parts;
  const { type, ...rest } = schema;
  return Array.isArray(type) ? type.map((one) => ({ ...rest, type: one })) : undefined;
}

function partsOf({ anyOf, oneOf }: JsonObject): readonly unknown[] | undefined {
  const parts = Array.isArray(anyOf) ? anyOf : oneOf;
  return Array.isArray(parts) && parts.length > 0 ? parts : undefined;
}

/** What to call an alternative of a union: its title, the constant that tells it apart, or its type. */
export function labelOf(schema: JsonObject, root: JsonObject, at: number): string {
  if (typeof schema['title'] === 'string') return schema['title'];
  const constants = propertiesOf(schema).flatMap(([name, part]) => {
    const { const: value } = resolve(part, root);
    return value === undefined ? [] : [`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  return constants[0] ?? (kindOf(schema) === 'any' ? `alternative ${at + 1}` : kindOf(schema));
}

/** The alternative that a value most likely is. */
export function optionFor(value: unknown, options: readonly unknown[], root: JsonObject): number {
  const at = options.findIndex((option) => fits(value, resolve(option, root), root));
  return Math.max(at, 0);
}

function fits(value: unknown, schema: JsonObject, root: JsonObject): boolean {
  const kind = kindOf(schema);
  if (kind === 'choice') return choicesOf(schema)?.some((choice) => JSON.stringify(choice.value) === JSON.stringify(value)) === true;
  if (kind === 'object')
    return isJsonObject(value) && propertiesOf(schema).every(([name, part]) => fitsConstant(value[name], resolve(part, root)));
  if (kind === 'array') return Array.isArray(value);
  if (kind === 'null') return value === null;
  if (kind === 'integer') return Number.isInteger(value);
  return kind === 'any' || typeof value === kind;
}

const fitsConstant = (value: unknown, schema: JsonObject): boolean => schema['const'] === undefined || schema['const'] === value;

/** The value that a form begins with: defaults and constants, empty text, what an object requires. undefined where the user has to choose. */
export function firstValue(given: unknown, root: JsonObject, depth = 0): JsonValue | undefined {
  const schema = resolve(given, root);
  if (schema['default'] !== undefined) return schema['default'];
  const kind = kindOf(schema);
  if (kind === 'choice') return choicesOf(schema)?.length === 1 ? choicesOf(schema)?.[0]?.value : undefined;
  if (depth > MAX_DEPTH) return undefined;
  if (kind === 'union') return firstValue(optionsOf(schema)?.[0], root, depth + 1);
  if (kind === 'object') return firstObject(schema, root, depth);
  if (kind === 'array') return schema['minItems'] === undefined ? [] : firstItems(schema, root, depth);
  return { string: '', boolean: false, null: null, number: undefined, integer: undefined, any: undefined }[kind];
}

function firstObject(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  const required = new Set(namesIn(schema['required']));
  return Object.fromEntries(
    propertiesOf(schema).flatMap(([name, part]) => {
      const value = required.has(name) || resolve(part, root)['default'] !== undefined ? firstValue(part, root, depth + 1) : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function firstItems(schema: JsonObject, root: JsonObject, depth: number): JsonValue[] {
  const count = Math.min(Number(schema['minItems']) || 0, 10);
  return Array.from({ length: count }, () => firstValue(schema['items'], root, depth + 1) ?? null);
}
