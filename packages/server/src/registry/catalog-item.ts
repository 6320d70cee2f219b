/** One registered tool, prompt, resource or template: how lists show it, how it is served, and how the program changes it later. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { checkOptions, type OptionKind } from '@mortise/jsonrpc-core/transport';
import type { Revision } from '@mortise/protocol';
import type { ListedConfig, RegisteredItem } from '../config.ts';
import { RegistrationError } from '../errors.ts';
import type { Catalog } from './catalog.ts';

/** The handler of a tool or prompt, or the reader of a resource, without type parameters. */
export type HandlerFn = (...args: readonly unknown[]) => unknown;

/** The options that registering one kind of item (tool, prompt or resource) accepts, each with the type of its value. */
export type ConfigTable = Readonly<Record<string, OptionKind>>;

/** The options that every tool, prompt and resource accepts, each with the type of its value. */
export const LISTED = { title: 'string', description: 'string', icons: 'array', _meta: 'object', visible: 'function' } as const;

/**
 * A registered tool, prompt, resource or template. `registerTool` and the like return it.
 *
 * @typeParam Parts What is prepared once from the options to serve the item, for example its schemas.
 */
export abstract class CatalogItem<Config extends ListedConfig = ListedConfig, Parts = unknown> implements RegisteredItem {
  /** The name or URI by which requests refer to the item. */
  key: string;
  name: string;
  config: Config;
  handler: HandlerFn;
  parts: Parts;
  enabled = true;
  /** A number by which lists are sorted. Numbers are never reused, so that a cursor stays valid when items are added or removed. */
  order = 0;
  protected readonly catalog: Catalog<CatalogItem<Config, Parts>>;

  /** @throws {RegistrationError} `ERR_REGISTRATION`: an invalid option. {SchemaUnsupportedError} `ERR_SCHEMA_UNSUPPORTED`: a schema. */
  constructor(catalog: Catalog<CatalogItem<Config, Parts>>, key: string, name: string, config: Config, handler: HandlerFn) {
    requireName(catalog.init.noun, name);
    this.catalog = catalog;
    this.key = key;
    this.name = name;
    this.config = config;
    this.handler = handler;
    checkOptions(this.label, { config: config ?? null, handler }, { config: 'object', handler: 'function' }, RegistrationError);
    if (typeof (handler as unknown) !== 'function')
      throw new RegistrationError(`${this.label}: the last parameter must be a function, got ${typeof handler}`);
    this.#check(config, {});
    this.parts = this.prepare(key, config);
  }

  /** The item's name in error texts: `tool "add"`. */
  get label(): string {
    return `${this.catalog.init.noun} "${this.name}"`;
  }

  /** Checks the item's options and prepares what is needed to serve it, such as its schemas. If this throws, nothing has changed. */
  protected abstract prepare(key: string, config: Config): Parts;

  /** Returns the item's list entry, such as a tool with its schemas, in the shape of the newest revision (canonical form). */
  abstract define(revision: Revision): JsonObject;

  enable(): void {
    if (!this.enabled) this.update({ enabled: true });
  }

  disable(): void {
    if (this.enabled) this.update({ enabled: false });
  }

  remove(): void {
    this.catalog.delete(this);
  }

  /** Changes the item, or nothing if it throws. @throws {RegistrationError} `ERR_REGISTRATION`: name or URI taken, or an invalid change. */
  update(changes: object = {}): void {
    const { keyOption = 'name', noun } = this.catalog.init;
    this.#check(changes, { [keyOption]: 'any', enabled: 'boolean', handler: 'function', callback: 'function' });
    const {
      [keyOption]: key = this.key,
      enabled = this.enabled,
      callback = this.handler,
      handler = callback,
      ...rest
    } = changes as Changes;
    if (key === null) return this.remove();
    if (keyOption === 'name') requireName(noun, key);
    const config = { ...this.config, ...rest };
    const parts = this.prepare(key, config);
    if (key !== this.key) this.catalog.rename(this, key);
    Object.assign(this, { config, parts, enabled, handler }, keyOption === 'name' ? { name: key } : {});
    this.catalog.changed();
  }

  #check(options: object, more: ConfigTable): void {
    const table: ConfigTable = { ...this.catalog.init.options, ...more };
    checkOptions<Readonly<Record<string, unknown>>>(this.label, { ...options }, table, RegistrationError);
  }
}

function requireName(noun: string, name: unknown): void {
  if (typeof name === 'string' && name !== '') return;
  throw new RegistrationError(`The name of a ${noun} must be a non-empty string, got ${name === '' ? 'an empty one' : typeof name}`);
}

interface Changes extends Readonly<Record<'name' | 'uri', string | null | undefined>> {
  readonly enabled?: boolean;
  readonly handler?: HandlerFn;
  readonly callback?: HandlerFn;
}

/** Copies an object without the members that are undefined. */
export function defined(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Record<string, JsonValue>;
}
