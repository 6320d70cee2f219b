/** Checks what is registered, for programs that no compiler checks: one table for each kind of config. */

import { checkOptions, type OptionKind } from '@mortise/jsonrpc-core/transport';
import type { Annotations, Icon } from '@mortise/protocol';
import type { ToolOptions } from '@mortise/protocol/contracts';
import type { PromptConfig, ResourceConfig, ToolConfig } from '../config.ts';
import { RegistrationError } from '../errors.ts';
import { isCacheScope, isTtl } from '../finish-result.ts';
import { isRawShape } from '../schema/raw-shape.ts';
import { isStandardSchema } from '../schema/standard-schema.ts';

type Table<Config> = { readonly [Name in keyof Config]-?: OptionKind | readonly OptionKind[] };

const LISTED = { title: 'string', description: 'string', icons: 'array', _meta: 'object', visible: 'function' } as const;
/** A schema may be an object or a function; what it is, its adapter says. */
const SCHEMA = 'any';
const TABLES: {
  readonly tool: Table<Omit<ToolConfig, keyof ToolOptions>>;
  readonly prompt: Table<PromptConfig>;
  readonly resource: Table<ResourceConfig>;
} = {
  tool: { ...LISTED, inputSchema: SCHEMA, outputSchema: SCHEMA, annotations: 'object', scopes: 'array' },
  prompt: { ...LISTED, argsSchema: SCHEMA },
  resource: { ...LISTED, mimeType: 'string', annotations: 'object', size: 0, ttlMs: 0, cacheScope: 'string' },
};

const CALLS = {
  tool: { call: 'registerTool(name, config, handler)', schema: 'inputSchema' },
  prompt: { call: 'registerPrompt(name, config, handler)', schema: 'argsSchema' },
  resource: { call: 'registerResource(name, uri, config, read)', schema: undefined },
} as const;

/** What is registered, by the names of its options. */
export type ItemKind = keyof typeof TABLES;

/** @throws {RegistrationError} `ERR_REGISTRATION`: a parameter is missing, or stands where another belongs. */
export function checkRegistration(kind: ItemKind, name: unknown, config: unknown, handler: unknown): void {
  const { call, schema } = CALLS[kind];
  checkName(kind, name);
  const owner = `${kind} "${String(name)}": ${call} was given`;
  if (typeof config !== 'object' || config === null) {
    const got = typeof config === 'function' ? 'a function where the config belongs' : `no config but ${String(config)}`;
    throw new RegistrationError(`${owner} ${got}: a config may be empty, {}`);
  }
  if (schema !== undefined && isSchema(config))
    throw new RegistrationError(`${owner} a schema where the config belongs: write { ${schema}: ... }`);
  checkHandler(owner, handler);
}

function checkHandler(owner: string, handler: unknown): void {
  if (typeof handler === 'function') return;
  throw new RegistrationError(`${owner} no function as its last parameter, got ${handler === null ? 'null' : typeof handler}`);
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: not a string, or an empty one. */
export function checkName(kind: ItemKind, name: unknown): void {
  if (typeof name === 'string' && name !== '') return;
  throw new RegistrationError(`A ${kind} needs a name: a string that is not empty, got ${name === '' ? 'an empty one' : typeof name}`);
}

/**
 * @param owner Names the item in messages: `tool "add"`.
 * @param extensionOptions The options that extensions own.
 * @throws {RegistrationError} `ERR_REGISTRATION`: an option is unknown, or not what the specification allows.
 * @see 2025-11-25 basic/index#icons, server/resources#annotations
 */
export function checkConfig(kind: ItemKind, owner: string, config: object, extensionOptions: readonly string[] = []): void {
  const table = { ...TABLES[kind], ...Object.fromEntries(extensionOptions.map((name) => [name, 'any' as const])) };
  const unknown =
    kind === 'tool' ? Object.entries(config).find(([name, value]) => value !== undefined && !Object.hasOwn(table, name)) : undefined;
  if (unknown) {
    const known = Object.keys(table).join(', ');
    const remedy = 'an option of an extension needs that extension in the server\'s option "extensions"';
    throw new RegistrationError(`${owner}: unknown option "${unknown[0]}" (known: ${known}): ${remedy}`);
  }
  checkOptions<Record<string, unknown>>(owner, config as Record<string, unknown>, table, RegistrationError);
  const { icons = [], annotations = {}, ttlMs, cacheScope } = config as ResourceConfig;
  icons.forEach((icon) => checkIcon(owner, icon));
  if (kind === 'resource') checkAnnotations(owner, annotations);
  if (ttlMs !== undefined && !isTtl(ttlMs))
    throw new RegistrationError(`${owner}: "ttlMs" is an integer of milliseconds, 0 or more, got ${String(ttlMs)}`);
  if (cacheScope !== undefined && !isCacheScope(cacheScope))
    throw new RegistrationError(`${owner}: "cacheScope" is "public" or "private", got ${JSON.stringify(cacheScope)}`);
}

const CHANGES = { handler: 'function', callback: 'function', read: 'function', enabled: 'boolean' } as const;

/** @throws {RegistrationError} `ERR_REGISTRATION`: what `update` of a handle was given is not an object, or has a member of another type. */
export function checkChanges(owner: string, changes: object): void {
  if (typeof (changes as unknown) !== 'object')
    throw new RegistrationError(`${owner}: update({ ... }) must be an object, got ${typeof changes}`);
  const given = Object.entries(changes).filter(([name]) => name in CHANGES);
  checkOptions<Record<string, unknown>>(`${owner}: update({ ... })`, Object.fromEntries(given), CHANGES, RegistrationError);
}

/** RFC 3986: a scheme, then only characters that a URI may have. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]*$/;

/** @throws {RegistrationError} `ERR_REGISTRATION`: not an absolute URI of RFC 3986. */
export function checkUri(owner: string, uri: string): void {
  if (URI.test(uri) && URL.canParse(uri)) return;
  const remedy = String(uri).includes('{') ? 'a template is new ResourceTemplate(...)' : 'percent-encode what is not allowed in one';
  throw new RegistrationError(`${owner}: "${uri}" is not an absolute URI of RFC 3986: ${remedy}`);
}

export function checkIcon(owner: string, icon: Icon | null): void {
  const src: unknown = icon?.src;
  if (typeof src !== 'string' || !/^(?:https:\/\/|data:)/i.test(src))
    throw new RegistrationError(`${owner}: each icon needs a "src" that begins with "https://" or "data:"`);
}

const ISO_8601 = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?$/;

function checkAnnotations(owner: string, { audience = [], priority, lastModified }: Annotations): void {
  if (!Array.isArray(audience)) throw new RegistrationError(`${owner}: "audience" must be an array`);
  const stranger: unknown = audience.find((role) => role !== 'user' && role !== 'assistant');
  if (stranger !== undefined)
    throw new RegistrationError(`${owner}: "audience" may name "user" and "assistant", got ${JSON.stringify(stranger)}`);
  if (priority !== undefined && !(priority >= 0 && priority <= 1))
    throw new RegistrationError(`${owner}: "priority" must lie between 0 and 1, got ${String(priority)}`);
  if (lastModified !== undefined && !ISO_8601.test(lastModified))
    throw new RegistrationError(`${owner}: "lastModified" must be a date of ISO 8601, got ${JSON.stringify(lastModified)}`);
}

function isSchema(config: object): boolean {
  if (isStandardSchema(config)) return true;
  const names = Object.keys(config);
  return names.length > 0 && !names.some((name) => name.endsWith('Schema')) && isRawShape(config);
}
