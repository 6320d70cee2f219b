/** What a server offers of one kind: an ordered map of items with visibility rules, and pages that are computed once. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, withSerialized } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { AuthInfo, CallOrigin, Principal } from '@mortise/protocol/contracts';
import { finishResult, markFinished } from '../serve-request.ts';
import type { Context } from '../context.ts';
import { RegistrationError } from '../errors.ts';
import type { ListKind } from '../events.ts';
import type { Server } from '../server.ts';
import type { CatalogItem, ConfigTable } from './catalog-item.ts';

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
  /** What messages call one item: `tool`. */
  readonly noun: string;
  /** The list's method, and the member of its result that holds the items. */
  readonly method: string;
  readonly member: string;
  /** What each option of a registration must be. */
  readonly options: ConfigTable;
  /** Which member of `update({ ... })` changes the key. @default 'name' */
  readonly keyOption?: 'uri';
}

interface Page {
  readonly items: JsonObject[];
  /** The position at which the next page begins; undefined after the last. */
  next: string | undefined;
}

/** What was computed for one revision. */
interface Kept<Item> {
  /** How its list shows each item; undefined for one that it cannot show. */
  readonly shown: Map<Item, JsonObject | undefined>;
  /** Finished pages by where they begin; undefined for one that was not asked for yet. Made-up positions are not kept. */
  readonly pages: Map<string, JsonObject | undefined>;
}

const FIRST = '0';

export class Catalog<Item extends CatalogItem> {
  readonly init: CatalogInit;
  readonly #items = new Map<string, Item>();
  #kept = new Map<Revision, Kept<Item>>();
  #lastOrder = 0;
  /** Whether some callers may see less than others; undefined until it is needed. */
  #hasRules: boolean | undefined = undefined;

  constructor(init: CatalogInit) {
    this.init = init;
  }

  get items(): readonly Item[] {
    return [...this.#items.values()];
  }

  /** @throws {RegistrationError} `ERR_REGISTRATION`: the key is taken. */
  add(item: Item): Item {
    const { server, kind } = this.init;
    this.#requireFree(item.key);
    item.order = ++this.#lastOrder;
    this.#items.set(item.key, item);
    this.changed();
    server.registerCapability(kind, kind === 'resources' ? { listChanged: true, subscribe: true } : { listChanged: true });
    return item;
  }

  /** Gives an item another key; it keeps its place. @throws {RegistrationError} `ERR_REGISTRATION`: the key is taken. */
  rename(item: Item, key: string): void {
    this.#requireFree(key);
    const { items } = this;
    item.key = key;
    this.#items.clear();
    for (const each of items) this.#items.set(each.key, each);
  }

  delete(item: Item): void {
    if (this.#items.get(item.key) !== item) return;
    this.#items.delete(item.key);
    this.changed();
  }

  /** An item changed: what was computed is forgotten, and clients are notified. */
  changed(): void {
    this.#hasRules = undefined;
    this.#kept = new Map();
    this.init.server.events.listChanged(this.init.kind);
  }

  /** An item that is enabled, whoever may see it. */
  findAny(key: string): Item | undefined {
    const item = this.#items.get(key);
    return item?.enabled ? item : undefined;
  }

  /** The item of a key, if this caller may see it. */
  find(key: string, asker: Asker): Item | undefined {
    const item = this.#items.get(key);
    return item && this.isVisible(item, asker) ? item : undefined;
  }

  isVisible(item: Item, asker: Asker): boolean {
    const { visible } = item.config;
    return item.enabled && (visible === undefined || this.#allows(visible, item, asker));
  }

  /** A rule that fails hides its item. So does one that gives a promise: it would be true whatever it resolves to. */
  #allows(visible: (asker: Required<Asker>) => unknown, item: Item, { principal, auth, app, origin }: Asker): boolean {
    try {
      const shown = visible({ principal, auth, app, origin });
      if (typeof shown === 'boolean') return shown;
      Promise.resolve(shown).catch(() => undefined);
      throw new TypeError(`a visibility rule must return true or false, not a ${shown instanceof Promise ? 'promise' : typeof shown}`);
    } catch (error) {
      this.init.server.logger.log('error', `The visibility rule of ${this.init.noun} "${item.key}" failed: it is hidden`, { error });
      return false;
    }
  }

  // ---- lists

  /** A page of the list. */
  list(context: Context): JsonObject {
    const start = this.startOf(context);
    this.#hasRules ??= this.items.some(({ config }) => config.visible !== undefined);
    if (this.#hasRules) return this.toResult(this.page(context, start), context, true);
    const { pages } = this.#keptFor(context.revision);
    const known = pages.get(start);
    if (known) return known;
    const page = this.page(context, start);
    const result = this.toResult(page, context, false);
    if (!pages.has(start)) return result;
    const finished = finishResult(result, context);
    const kept = withSerialized(markFinished(finished), JSON.stringify(finished));
    pages.set(start, kept);
    if (page.next !== undefined) pages.set(page.next, undefined);
    return kept;
  }

  /** Where the cursor of a request says to go on. @throws {ProtocolError} -32602 for a cursor that this list does not give. */
  startOf({ params }: Context, positions = /^\d+$/): string {
    const cursor = params['cursor'];
    if (cursor === undefined) return FIRST;
    const [method, position = ''] = String(cursor).split(' ');
    if (method === this.init.method && positions.test(position)) return position;
    throw new ProtocolError(INVALID_PARAMS, 'The cursor is not one that this list gave: start again without a cursor');
  }

  /** The items after a position. @param start An item's order. */
  page(context: Context, start: string): Page {
    const { pageSize = 1000 } = this.init.server.options;
    const page: Page = { items: [], next: undefined };
    let last = Number(start);
    for (const item of this.#items.values()) {
      if (item.order <= last || !this.isVisible(item, context)) continue;
      const shown = this.#show(item, context.revision);
      if (!shown) continue;
      if (page.items.length >= pageSize) {
        page.next = String(last);
        break;
      }
      page.items.push(shown);
      last = item.order;
    }
    return page;
  }

  /** @param isPrivate Whether the list depends on who asks. */
  toResult({ items, next }: Page, context: Context, isPrivate: boolean): JsonObject {
    const { method, member } = this.init;
    const result: JsonObject = {
      [member]: items,
      // It guards nothing: every page shows what its caller may see.
      ...(next === undefined ? {} : { nextCursor: `${method} ${next}` }),
      ...(isPrivate && context.route.facts?.cacheable ? { cacheScope: 'private' } : {}),
    };
    // Each item has its revision's shape already.
    context.ownResult = result;
    return result;
  }

  /** One item's definition in a revision's shape; undefined for one that it cannot show. */
  shape(definition: JsonObject, revision: Revision): JsonObject | undefined {
    const { method, member } = this.init;
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
    if (!kept) this.#kept.set(revision, (kept = { shown: new Map(), pages: new Map([[FIRST, undefined]]) }));
    return kept;
  }

  #requireFree(key: string): void {
    if (this.#items.has(key))
      throw new RegistrationError(`${this.init.noun} "${key}" is registered already: choose another name, or update or remove the first`);
  }
}
