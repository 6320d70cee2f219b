/** What a server offers of one kind: an ordered map of items with handles, visibility rules, and pages that are computed once. */

import { type JsonObject, type JsonValue, ProtocolError } from '@mortise/jsonrpc-core';
import { fromBase64Url, toBase64Url } from '@mortise/jsonrpc-core/encoding';
import { INVALID_PARAMS, withSerialized } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { AuthInfo, CallOrigin, Principal } from '@mortise/protocol/contracts';
import type { ListedConfig, RegisteredItem } from '../config.ts';
import type { Context } from '../context.ts';
import { RegistrationError } from '../errors.ts';
import type { ListKind } from '../events.ts';
import { finishResult, markFinished } from '../finish-result.ts';
import type { Server } from '../server.ts';
import { isThenable } from '../thenable.ts';
import { checkChanges, checkConfig, checkName, type ItemKind } from './check-registration.ts';

/** A handler or reader, once its types no longer matter. */
export type HandlerFn = (...args: readonly unknown[]) => unknown;

/** One item of a catalog: what lists show of it, and what runs it. */
export abstract class CatalogItem<Config extends ListedConfig = ListedConfig> {
  /** What it is found by: a name or a URI. */
  key: string;
  isEnabled = true;
  config: Config = {} as Config;
  handler: HandlerFn;
  abstract readonly kind: ItemKind;
  /** Which member of `update({ ... })` changes the key. */
  readonly keyOption: 'name' | 'uri' = 'name';

  constructor(key: string, handler: HandlerFn) {
    this.key = key;
    this.handler = handler;
  }

  get name(): string {
    return this.key;
  }

  /** How messages name it: `tool "add"`. */
  get label(): string {
    return `${this.kind} "${this.name}"`;
  }

  /** How a list shows it, canonical. */
  abstract define(revision: Revision): JsonObject;

  /** Changes by the names of the registration's options. */
  readChanges(changes: object): object {
    return changes;
  }

  /** @throws {RegistrationError} `ERR_REGISTRATION`: it cannot have this key. */
  checkKey(key: string): void {
    checkName(this.kind, key);
  }

  /**
   * Checks changes to the registration.
   *
   * @returns What makes them; nothing has changed before it is called.
   * @throws {RegistrationError} {SchemaUnsupportedError}
   */
  prepare(changes: Config, handler?: HandlerFn, extensionOptions?: readonly string[]): () => void {
    const config = { ...this.config, ...changes };
    checkConfig(this.kind, this.label, config, extensionOptions);
    return () => {
      this.config = config;
      if (handler) this.handler = handler;
    };
  }
}

/** The members that are there. */
export function defined(members: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Record<string, JsonValue>;
}

/** Who asks, as far as visibility may depend on it. A `Context` is one. */
export interface Asker {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  readonly app?: unknown;
  readonly origin?: CallOrigin | undefined;
}

export interface CatalogInit {
  readonly server: Server;
  readonly kind: ListKind;
  /** What one item is called in messages: `tool`. */
  readonly noun: string;
  /** The list's method, and the member of its result that holds the items. */
  readonly method: string;
  readonly member: string;
}

interface Slot<Item> {
  readonly item: Item;
  /** Where it stands: counted up, never used again, so that a cursor outlives changes. */
  readonly order: number;
}

interface Page {
  readonly items: JsonObject[];
  /** The position at which the next one begins; undefined after the last. */
  next: string | undefined;
}

/** What was computed for one revision. */
interface Kept<Item> {
  /** How its list shows each item; undefined for one that it cannot show. */
  readonly shown: Map<Item, JsonObject | undefined>;
  /** Finished pages by their first position. */
  readonly pages: Map<string, JsonObject>;
  /** Where kept pages end: pages that begin elsewhere, which a peer can make up at will, are not kept. */
  readonly starts: Set<string>;
}

const FIRST = '0';

export class Catalog<Item extends CatalogItem> {
  readonly #init: CatalogInit;
  readonly #slots = new Map<string, Slot<Item>>();
  #kept = new Map<Revision, Kept<Item>>();
  #lastOrder = 0;
  /** Whether some callers may see less than others; undefined until it is asked for. */
  #hasRules: boolean | undefined = undefined;

  constructor(init: CatalogInit) {
    this.#init = init;
  }

  get items(): readonly Item[] {
    return [...this.#slots.values()].map(({ item }) => item);
  }

  /** @throws {RegistrationError} `ERR_REGISTRATION`: the key is taken. */
  add(item: Item): void {
    this.#requireFree(item.key);
    this.#slots.set(item.key, { item, order: ++this.#lastOrder });
    this.changed();
  }

  /** Gives an item another key; it stays where it stands. */
  rename(item: Item, key: string): void {
    if (key === item.key) return;
    this.#requireFree(key);
    const slots = [...this.#slots];
    this.#slots.clear();
    for (const [known, slot] of slots) this.#slots.set(slot.item === item ? key : known, slot);
    item.key = key;
  }

  delete(item: Item): void {
    if (this.#slots.get(item.key)?.item !== item) return;
    this.#slots.delete(item.key);
    this.changed();
  }

  /** An item changed: what was computed is forgotten, and clients hear of it. */
  changed(): void {
    this.#hasRules = undefined;
    this.#kept = new Map();
    this.#init.server.events.listChanged(this.#init.kind);
  }

  /** An item that is enabled, whoever may see it. */
  findAny(key: string): Item | undefined {
    const item = this.#slots.get(key)?.item;
    return item?.isEnabled ? item : undefined;
  }

  /** The item of a key, if this caller may see it. */
  find(key: string, asker: Asker): Item | undefined {
    const item = this.#slots.get(key)?.item;
    return item && this.isVisible(item, asker) ? item : undefined;
  }

  /** The first item that a caller may see and a test accepts. */
  findBy(asker: Asker, test: (item: Item) => boolean): Item | undefined {
    for (const { item } of this.#slots.values()) if (test(item) && this.isVisible(item, asker)) return item;
    return undefined;
  }

  isVisible(item: Item, asker: Asker): boolean {
    const { visible } = item.config;
    if (!item.isEnabled || !visible) return item.isEnabled;
    try {
      const shown: unknown = visible({ principal: asker.principal, auth: asker.auth, app: asker.app, origin: asker.origin });
      if (!isThenable(shown)) return shown === true;
      // What it rejects with is nobody's, and would end the process.
      Promise.resolve(shown).catch(() => undefined);
      // A promise is true whatever it resolves to, and must not show what it may be meant to hide.
      throw new TypeError('a visibility rule must answer at once, not by a promise');
    } catch (error) {
      this.#init.server.logger.log('error', `The visibility rule of ${this.#init.noun} "${item.key}" failed: it is hidden`, { error });
      return false;
    }
  }

  // ---- lists

  /** A page of the list. */
  list(context: Context): JsonObject {
    const start = this.startOf(context);
    this.#hasRules ??= this.items.some(({ config }) => config.visible !== undefined);
    if (this.#hasRules) return this.toResult(this.page(context, start), context, true);
    const { pages, starts } = this.#keptFor(context.revision);
    const known = pages.get(start);
    if (known) return known;
    const page = this.page(context, start);
    const result = this.toResult(page, context, false);
    if (start !== FIRST && !starts.has(start)) return result;
    const finished = finishResult(result, context);
    const kept = withSerialized(markFinished(finished), JSON.stringify(finished));
    pages.set(start, kept);
    if (page.next !== undefined) starts.add(page.next);
    return kept;
  }

  /** Where the cursor of a request says to go on. @throws {ProtocolError} -32602 for a cursor that this list does not give. */
  startOf({ params }: Context, positions = /^\d+$/): string {
    const cursor = params['cursor'];
    if (cursor === undefined) return FIRST;
    const [method, position] = readCursor(String(cursor));
    if (method === this.#init.method && position !== undefined && positions.test(position)) return position;
    throw new ProtocolError(INVALID_PARAMS, 'The cursor is not one that this list gave: start again without a cursor');
  }

  /** The items after a position. @param start An item's order. */
  page(context: Context, start: string): Page {
    const { pageSize = 1000 } = this.#init.server.options;
    const page: Page = { items: [], next: undefined };
    let last = Number(start);
    for (const { item, order } of this.#slots.values()) {
      if (order <= last || !this.isVisible(item, context)) continue;
      const shown = this.#show(item, context.revision);
      if (!shown) continue;
      if (page.items.length >= pageSize) {
        page.next = String(last);
        break;
      }
      page.items.push(shown);
      last = order;
    }
    return page;
  }

  /** @param isPrivate Whether the list depends on who asks. */
  toResult({ items, next }: Page, context: Context, isPrivate: boolean): JsonObject {
    const { method, member } = this.#init;
    const result: JsonObject = {
      [member]: items,
      ...(next === undefined ? {} : { nextCursor: writeCursor(method, next) }),
      ...(isPrivate && context.route.facts?.cacheable ? { cacheScope: 'private' } : {}),
    };
    // Each item has its revision's shape already.
    context.ownResult = result;
    return result;
  }

  /** One item's definition in a revision's shape; undefined for one that it cannot show. */
  shape(definition: JsonObject, revision: Revision): JsonObject | undefined {
    const { method, member } = this.#init;
    const convert = revision.toWire.results.get(method);
    if (!convert) return definition;
    const items = convert({ [member]: [definition] })[member];
    return Array.isArray(items) ? (items[0] as JsonObject | undefined) : undefined;
  }

  #show(item: Item, revision: Revision): JsonObject | undefined {
    const { shown } = this.#keptFor(revision);
    if (!shown.has(item)) shown.set(item, this.shape(item.define(revision), revision));
    return shown.get(item);
  }

  #keptFor(revision: Revision): Kept<Item> {
    let kept = this.#kept.get(revision);
    if (!kept) this.#kept.set(revision, (kept = { shown: new Map(), pages: new Map(), starts: new Set() }));
    return kept;
  }

  #requireFree(key: string): void {
    if (this.#slots.has(key))
      throw new RegistrationError(`${this.#init.noun} "${key}" is registered already: choose another name, or update or remove the first`);
  }
}

/** The handle of a registered item. */
export class CatalogHandle<Item extends CatalogItem> implements RegisteredItem {
  protected readonly item: Item;
  readonly #catalog: Catalog<Item>;

  constructor(item: Item, catalog: Catalog<Item>) {
    this.item = item;
    this.#catalog = catalog;
  }

  get name(): string {
    return this.item.name;
  }

  get enabled(): boolean {
    return this.item.isEnabled;
  }

  enable(): void {
    this.#setEnabled(true);
  }

  disable(): void {
    this.#setEnabled(false);
  }

  remove(): void {
    this.#catalog.delete(this.item);
  }

  /** @throws {RegistrationError} `ERR_REGISTRATION`: the new key is taken or malformed, or a change is; nothing is changed then. */
  update(changes: object): void {
    const { item } = this;
    checkChanges(item.label, changes);
    const keyOption = item.keyOption;
    const handlerOption = item.kind === 'resource' ? 'read' : 'handler';
    const { [keyOption]: key, enabled, callback, [handlerOption]: handler = callback, ...config } = changes as Record<string, unknown>;
    if (key === null) return this.remove();
    if (key !== undefined) item.checkKey(key as string);
    const change = item.prepare(item.readChanges(config), handler as HandlerFn | undefined);
    // First, for it alone may still fail.
    if (key !== undefined) this.#catalog.rename(item, key as string);
    change();
    if (enabled !== undefined) item.isEnabled = enabled as boolean;
    this.#catalog.changed();
  }

  #setEnabled(isEnabled: boolean): void {
    if (this.item.isEnabled === isEnabled) return;
    this.item.isEnabled = isEnabled;
    this.#catalog.changed();
  }
}

// ---- cursors: the list and where its page ended. They guard nothing, as every page shows what its caller may see.

function writeCursor(method: string, position: string): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify([method, position])));
}

function readCursor(cursor: string): readonly [method?: string, position?: string] {
  try {
    const read: unknown = JSON.parse(new TextDecoder().decode(fromBase64Url(cursor)));
    return Array.isArray(read) && read.length === 2 && read.every((part) => typeof part === 'string') ? (read as [string, string]) : [];
  } catch {
    return [];
  }
}
