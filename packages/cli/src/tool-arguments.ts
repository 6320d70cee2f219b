/** Makes a tool's arguments from words of the command line: `key=value`, `key:=json`, one JSON object, or `@file.json`. */

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { Tool } from '@mortise/protocol/model';
import { CliError } from './errors.ts';
import { clean, cleanLine } from './terminal.ts';

/**
 * Reads the arguments of one call. A value takes the type that the tool's schema names for its key; `:=` takes any JSON. One JSON object is taken
 * as it is.
 *
 * @param words As the user wrote them.
 * @param cwd The folder that `@file` starts from.
 * @throws {CliError} A word is malformed, its name is not one of the schema's, or its value does not have the type that the schema names.
 */
export function toArguments(tool: Tool, words: readonly string[], cwd: string): JsonObject {
  const [first = ''] = words;
  if (words.length === 1 && /^[{@]/.test(first)) return readObject(first, cwd);
  const properties = propertiesOf(tool);
  const args = Object.create(null) as Record<string, JsonValue>;
  for (const word of words) {
    const { key, text, isJson } = splitWord(word);
    checkName(key, tool);
    const schema = properties[key];
    args[key] = isJson ? readJson(key, text) : toTyped(key, text, schema, tool.inputSchema, args[key]);
  }
  return args;
}

/** The required arguments that are missing. */
export function missingArguments(tool: Tool, args: JsonObject): readonly string[] {
  const { required } = tool.inputSchema as { readonly required?: unknown };
  return Array.isArray(required) ? required.filter((key): key is string => typeof key === 'string' && !Object.hasOwn(args, key)) : [];
}

/** Reads the text that a user typed for one argument. @throws {CliError} It does not have the type that the schema names. */
export function toArgument(tool: Tool, key: string, text: string): JsonValue {
  return toTyped(key, text, propertiesOf(tool)[key], tool.inputSchema, undefined);
}

/** A tool's arguments in short: `a: number, b?: string`. */
export function describeArguments(tool: Tool): string {
  const required = new Set(missingArguments(tool, {}));
  return Object.entries(propertiesOf(tool))
    .map(([key, schema]) => `${key}${required.has(key) ? '' : '?'}: ${describeTypes(schema, tool.inputSchema)}`)
    .join(', ');
}

type Schema = Readonly<Record<string, unknown>>;

function propertiesOf(tool: Tool): Readonly<Record<string, unknown>> {
  const { properties } = tool.inputSchema as { readonly properties?: unknown };
  return isSchema(properties) ? properties : {};
}

/** Members of a schema by which it may allow names that are not in its `properties`. */
const ALLOWING = ['additionalProperties', 'patternProperties', '$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/** @throws {CliError} The schema names the arguments, and this is none of them. Most servers would drop it in silence. */
function checkName(key: string, tool: Tool): void {
  const { inputSchema } = tool;
  if (!isSchema(inputSchema['properties']) || Object.hasOwn(inputSchema['properties'], key)) return;
  if (ALLOWING.some((name) => inputSchema[name] !== undefined && inputSchema[name] !== false)) return;
  const known = Object.keys(inputSchema['properties']).join(', ') || 'none';
  throw new CliError(
    `"${cleanLine(tool.name)}" has no argument "${cleanLine(key)}": it has ${cleanLine(known)} (one JSON object is sent as it is)`,
  );
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value);

function splitWord(word: string): { readonly key: string; readonly text: string; readonly isJson: boolean } {
  const match = /^([^=]*?)(:?=)([^]*)$/.exec(word);
  if (!match?.[1])
    throw new CliError(`"${clean(word)}" is not a valid argument: write key=value, key:=json, '{"key": value}' or @file.json`);
  return { key: match[1], text: match[3] ?? '', isJson: match[2] === ':=' };
}

function readObject(word: string, cwd: string): JsonObject {
  const text = word.startsWith('@') ? readFile(resolve(cwd, word.slice(1))) : word;
  const value = readJson(word.startsWith('@') ? word : 'The arguments', text);
  if (isSchema(value)) return value as JsonObject;
  throw new CliError(`The arguments of a tool are a JSON object, such as {"a": 1}`);
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`The file of the arguments cannot be read`, undefined, { cause: error });
  }
}

function readJson(what: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new CliError(`${clean(what)}: not JSON`, undefined, { cause: error });
  }
}

function toTyped(key: string, text: string, schema: unknown, root: object, before: JsonValue | undefined): JsonValue {
  const types = typesOf(schema, root);
  const items = Object(resolveRef(schema, root))['items'];
  // A list of lists is written as JSON.
  if (types.has('array') && !text.startsWith('[') && !typesOf(items, root).has('array')) {
    const item = toTyped(key, text, items, root, undefined);
    return [...(Array.isArray(before) ? before : []), item];
  }
  const isText = types.has('string');
  if (isText && types.size === 1) return text;
  const value = tryJson(text);
  if (value !== undefined && (types.size === 0 || types.has(typeOf(value)))) return value;
  if (isText || types.size === 0) return text;
  throw new CliError(`argument "${cleanLine(key)}" must be ${[...types].join(' or ')}, got "${clean(text)}"`);
}

function tryJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** References may lead to one another. */
const MAX_DEPTH = 8;

/** The JSON types that a schema allows, as far as it says so; integers are numbers. */
function typesOf(given: unknown, root: object, seen = new Set<unknown>()): Set<string> {
  const schema = resolveRef(given, root);
  // A schema that was seen before has said all it can: one that refers to itself many times would take for ever.
  if (!isSchema(schema) || seen.has(schema)) return new Set();
  seen.add(schema);
  const named = [schema['type']].flat().filter((type) => typeof type === 'string');
  const fixed = [schema['const'], ...listOf(schema['enum'])].filter((value) => value !== undefined);
  const nested = [...listOf(schema['anyOf']), ...listOf(schema['oneOf'])].flatMap((one) => [...typesOf(one, root, seen)]);
  const found = named.length > 0 ? named : [...fixed.map((value) => typeOf(value as JsonValue)), ...nested];
  return new Set(found.map((type) => (type === 'integer' ? 'number' : type)));
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function resolveRef(schema: unknown, root: object): unknown {
  let found = schema;
  for (let depth = 0; isSchema(found) && typeof found['$ref'] === 'string'; depth++) {
    if (depth > MAX_DEPTH || !found['$ref'].startsWith('#/')) return undefined;
    const path = found['$ref'].slice(2).split('/');
    found = path.reduce<unknown>((at, key) => (isSchema(at) ? at[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined), root);
  }
  return found;
}

function describeTypes(schema: unknown, root: object): string {
  const found = resolveRef(schema, root);
  const values = isSchema(found) ? listOf(found['enum']) : [];
  if (values.length > 0 && values.length <= 6) return values.map((value) => JSON.stringify(value)).join(' | ');
  const types = [...typesOf(schema, root)].map((type) => (type === 'array' ? describeItems(found, root) : describeMembers(type, found)));
  return types.length === 0 ? 'any' : types.join(' | ');
}

/** A list with its items, one level deep. */
function describeItems(list: unknown, root: object): string {
  const item = resolveRef(Object(list)['items'], root);
  const types = [...typesOf(item, root)].map((type) => describeMembers(type, item));
  if (types.length === 0) return 'array';
  return types.length === 1 ? `${types[0]}[]` : `(${types.join(' | ')})[]`;
}

/** An object with the names of its members; other types as they are. */
function describeMembers(type: string, schema: unknown): string {
  const { properties, required } = Object(schema) as Schema;
  if (type !== 'object' || !isSchema(properties)) return type;
  const names = Object.keys(properties).map((name) => (listOf(required).includes(name) ? name : `${name}?`));
  return names.length === 0 ? type : `{ ${names.join(', ')} }`;
}
