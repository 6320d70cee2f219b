/** All tools, prompts, resources or templates of a server: an ordered map with visibility rules and cached list pages. */

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

/** Who asks for a list or an item, as the option `visible` sees it. A `Context` is one. */
export interface Asker {
  readonly principal: Principal;
  readonly auth?: AuthInfo | undefined;
  readonly app?: unknown;
  readonly origin?: CallOrigin | undefined;
}

export interface CatalogInit {
  readonly server: Server;
  readonly kind: ListKind;
  /** The kind of item, for error texts: `tool`. */
  readonly noun: string;
  /** The list method, such as `tools/list`. `member` is the member of its result that holds the items. */
  readonly method: string;
  readonly member: string;
  /** The options that a registration accepts, each with the type of its value. */
  readonly options: ConfigTable;
  /** The member of `update({ ... })` that changes the item's name or URI. @default 'name' */
  readonly keyOption?: 'uri';
}

interface Page {
  readonly items: JsonObject[];
  /** The cursor position at which the next page begins. Undefined after the last page. */
  next: string | undefined;
}

/** The cached item definitions and list pages in the shape of one revision. */
interface Kept<Item> {
  /** The list entry of each item in the revision's shape. Undefined if the revision cannot express the item. */
  readonly shown: Map<Item, JsonObject | undefined>;
  /** Cached list pages by start position. Undefined for a page that was not requested yet; positions that clients invent are not added. */
  readonly pages: Map<string, JsonObject | undefined>;
}

const FIRST = '0';

export class Catalog<Item extends CatalogItem> {
  readonly init: CatalogInit;
  readonly #items = new Map<string, Item>();
  #kept = new Map<Revision, Kept<Item>>();
  #lastOrder = 0;
  /** Whether any item has the option `visible`. Undefined until first needed. */
  #hasRules: boolean | undefined = undefined;

  constructor(init: CatalogInit) {
    this.init = init;
  }

  get items(): readonly Item[] {
    return [...this.#items.values()];
  }

  /** Adds an item. @throws {RegistrationError} `ERR_REGISTRATION`: its name or URI is taken. */
  add(item: Item): Item {
    const { server, kind } = this.init;
    this.#requireFree(item.key);
    item.order = ++this.#lastOrder;
    this.#items.set(item.key, item);
    this.changed();
    server.registerCapability(kind, kind === 'resources' ? { listChanged: true, subscribe: true } : { listChanged: true });
    return item;
  }

  /** Gives an item another name or URI and keeps its position. @throws {RegistrationError} `ERR_REGISTRATION`: the name or URI is taken. */
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

  /** Must be called after an item has changed: clears the cached list pages and notifies clients. */
  changed(): void {
    this.#hasRules = undefined;
    this.#kept = new Map();
    this.init.server.events.listChanged(this.init.kind);
  }

  /** Finds an enabled item, even if its option `visible` would hide it from the caller. */
  findAny(key: string): Item | undefined {
    const item = this.#items.get(key);
    return item?.enabled ? item : undefined;
  }

  /** Finds an enabled item that is visible to this caller. */
  find(key: string, asker: Asker): Item | undefined {
    const item = this.#items.get(key);
    return item && this.isVisible(item, asker) ? item : undefined;
  }

  isVisible(item: Item, asker: Asker): boolean {
    const { visible } = item.config;
    return item.enabled && (visible === undefined || this.#allows(visible, item, asker));
  }

  /** Calls an item's option `visible`. Hides the item if `visible` throws or returns a promise, because a promise is always truthy. */
  #allows(visible: (asker: Required<Asker>) => unknown, item: Item, { principal, auth, app, origin }: Asker): boolean {
    try {
      const shown = visible({ principal, auth, app, origin });
      if (typeof shown === 'boolean') return shown;
      Promise.resolve(shown).catch(() => undefined);
      throw new TypeError(`option "visible" must return true or false, not a ${shown instanceof Promise ? 'promise' : typeof shown}`);
    } catch (error) {
      this.init.server.logger.log('error', `The visibility rule of ${this.init.noun} "${item.key}" failed: it is hidden`, { error });
      return false;
    }
  }

  // ---- lists

  /** Returns the page of the list that the request's cursor names, as a list result. */
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

  /** Returns the list position that a request's `cursor` names. @throws {ProtocolError} -32602: the cursor is not from this list. */
  startOf({ params }: Context, positions = /^\d+$/): string {
    const cursor = params['cursor'];
    if (cursor === undefined) return FIRST;
    const [method, position = ''] = String(cursor).split(' ');
    if (method === this.init.method && positions.test(position)) return position;
    throw new ProtocolError(INVALID_PARAMS, `Unknown cursor: list the ${this.init.noun}s again without a cursor`);
  }

  /** Returns one page of visible items, from a position in the list. @param start The `order` of an item. */
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

  /** Makes a list result from a page of items. @param isPrivate Whether the list depends on the caller. */
  toResult({ items, next }: Page, context: Context, isPrivate: boolean): JsonObject {
    const { method, member } = this.init;
    const result: JsonObject = {
      [member]: items,
      // The cursor needs no protection: visibility is checked again for every page.
      ...(next === undefined ? {} : { nextCursor: `${method} ${next}` }),
      ...(isPrivate && context.route.facts?.cacheable ? { cacheScope: 'private' } : {}),
    };
    // Each item already has its revision's shape.
    context.ownResult = result;
    return result;
  }

  /** Converts an item's list entry to a revision's shape. Undefined if the revision cannot express the item. */
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
