/** What a server offers of one kind: an ordered set of items with handles, visibility rules, and pages that are computed once. */

import { type JsonObject, ProtocolError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, withSerialized } from '@mortise/jsonrpc-core/messages';
import type { Revision } from '@mortise/protocol';
import type { Principal, AuthInfo, CallOrigin } from '@mortise/protocol/contracts';
import type { VisibilityContext } from '../context.ts';
import { RegistrationError } from '../errors.ts';
import { finishResult, markFinished } from '../finish-result.ts';
import type { ListKind } from '../list-changed.ts';
import type { RequestCall } from '../request-call.ts';
import type { ServerCore } from '../server-core.ts';
import { isThenable } from '../thenable.ts';

/** One item of a catalog. */
export interface CatalogItem {
  /** What it is found by: a name or a URI. */
  key: string;
  isEnabled: boolean;
  readonly visible: ((ctx: VisibilityContext) => boolean) | undefined;
  /** How a list shows it, canonical. */
  define(revision: Revision): JsonObject;
}

/** Who asks, as far as visibility may depend on it. A call is one. */
export interface Asker {
  readonly principal: Principal;
  readonly auth: AuthInfo | undefined;
  readonly app: unknown;
  readonly origin: CallOrigin | undefined;
}

export interface CatalogInit {
  readonly core: ServerCore;
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

/** One page under way. */
interface Page {
  readonly items: JsonObject[];
  /** The position at which the next one begins; undefined after the last. */
  next: string | undefined;
}

export class Catalog<Item extends CatalogItem> {
  readonly #init: CatalogInit;
  readonly #slots = new Map<string, Slot<Item>>();
  #lastOrder = 0;
  /** Whether some callers may see less than others; undefined until it is asked for. */
  #hasRules: boolean | undefined = undefined;
  /** Finished pages by revision and cursor; only where nobody sees less than another. */
  #pages = new Map<Revision, Map<string | undefined, JsonObject>>();
  /** How a revision's list shows each item; undefined for one that it cannot show. */
  #shown = new Map<Revision, Map<Item, JsonObject | undefined>>();

  constructor(init: CatalogInit) {
    this.#init = init;
  }

  get size(): number {
    return this.#slots.size;
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
    this.changed();
  }

  delete(item: Item): void {
    if (this.#slots.get(item.key)?.item !== item) return;
    this.#slots.delete(item.key);
    this.changed();
  }

  /** An item changed: what was computed is forgotten, and clients are told. */
  changed(): void {
    this.#hasRules = undefined;
    this.#pages = new Map();
    this.#shown = new Map();
    this.#init.core.listChanges.mark(this.#init.kind);
  }

  /** The item of a key, if this caller may see it. */
  find(key: string, asker: Asker): Item | undefined {
    const item = this.#slots.get(key)?.item;
    return item && this.isVisible(item, asker) ? item : undefined;
  }

  /** An item that is enabled, whoever may see it. */
  findAny(key: string): Item | undefined {
    const item = this.#slots.get(key)?.item;
    return item?.isEnabled ? item : undefined;
  }

  /** The first item that a caller may see and a test accepts. */
  findBy(asker: Asker, test: (item: Item) => boolean): Item | undefined {
    for (const { item } of this.#slots.values()) if (test(item) && this.isVisible(item, asker)) return item;
    return undefined;
  }

  isVisible(item: Item, asker: Asker): boolean {
    if (!item.isEnabled) return false;
    if (!item.visible) return true;
    try {
      const shown: unknown = item.visible({ principal: asker.principal, auth: asker.auth, app: asker.app, origin: asker.origin });
      if (!isThenable(shown)) return shown === true;
      // A promise is true whatever it resolves to, and must not show what it may be meant to hide.
      this.#reportRule(item, new TypeError('a visibility rule must answer at once, not by a promise'));
      // What it rejects with is nobody's, and would end the process.
      Promise.resolve(shown).catch(() => undefined);
    } catch (error) {
      this.#reportRule(item, error);
    }
    return false;
  }

  #reportRule({ key }: Item, error: unknown): void {
    this.#init.core.logger.log('error', `The visibility rule of ${this.#init.noun} "${key}" failed: it is hidden`, { error });
  }

  /** A page of the list, finished for the call. A promise only where a cursor is the first of this process. */
  list(call: RequestCall): JsonObject | Promise<JsonObject> {
    this.#hasRules ??= this.items.some(({ visible }) => visible !== undefined);
    if (this.#hasRules) return after(this.startOf(call), (start) => this.toResult(this.page(call, start), call, true));
    const cursor = call.params['cursor'] as string | undefined;
    let pages = this.#pages.get(call.revision);
    if (!pages) this.#pages.set(call.revision, (pages = new Map()));
    return pages.get(cursor) ?? this.#fill(pages, cursor, call);
  }

  /** Keeps a page among the others of its time: those are dropped together if something changes meanwhile. */
  #fill(pages: Map<string | undefined, JsonObject>, cursor: string | undefined, call: RequestCall): JsonObject | Promise<JsonObject> {
    const page = after(this.startOf(call), (start) => this.toResult(this.page(call, start), call, false));
    return after(page, (made) => {
      const result = finishResult(made, call);
      const kept = withSerialized(markFinished(result), JSON.stringify(result));
      pages.set(cursor, kept);
      return kept;
    });
  }

  /** Where the cursor of a call says to go on. @throws {ProtocolError} -32602 for a cursor that this list did not give. */
  startOf(call: RequestCall): string | Promise<string> {
    const cursor = call.params['cursor'];
    if (cursor === undefined) return '0';
    return this.#init.core.useCursors((cursors) => {
      const position = cursors.decode(this.#init.method, String(cursor));
      if (position !== undefined) return position;
      throw new ProtocolError(INVALID_PARAMS, 'The cursor is not one that this list gave: start again without a cursor');
    });
  }

  /** The items after a position. @param start An item's order. */
  page(call: RequestCall, start: string): Page {
    const after = Number(start);
    const { pageSize = 1000 } = this.#init.core.options;
    const page: Page = { items: [], next: undefined };
    let last = after;
    for (const { item, order } of this.#slots.values()) {
      if (order <= after || !this.isVisible(item, call)) continue;
      const shown = this.#show(item, call);
      if (!shown) continue;
      if (page.items.length >= pageSize) {
        page.next = String(last);
        return page;
      }
      page.items.push(shown);
      last = order;
    }
    return page;
  }

  /** @param isPrivate Whether the list depends on who asks. */
  toResult({ items, next }: Page, call: RequestCall, isPrivate: boolean): JsonObject | Promise<JsonObject> {
    const { core, method, member } = this.#init;
    const finish = (nextCursor: string | undefined): JsonObject => {
      const result: JsonObject = {
        [member]: items,
        ...(nextCursor === undefined ? {} : { nextCursor }),
        ...(isPrivate && call.resolved.facts?.cacheable ? { cacheScope: 'private' } : {}),
      };
      // Each item has its revision's shape already.
      call.ownResult = result;
      return result;
    };
    return next === undefined ? finish(undefined) : core.useCursors((cursors) => finish(cursors.encode(method, next)));
  }

  #show(item: Item, call: RequestCall): JsonObject | undefined {
    const { revision } = call;
    let shown = this.#shown.get(revision);
    if (!shown) this.#shown.set(revision, (shown = new Map()));
    if (!shown.has(item)) shown.set(item, this.shape(item.define(revision), call));
    return shown.get(item);
  }

  /** One item's definition in a revision's shape; undefined for one that it cannot show. */
  shape(definition: JsonObject, call: RequestCall): JsonObject | undefined {
    const { method, member } = this.#init;
    const convert = call.revision.toWire.results.get(method);
    if (!convert) return definition;
    const items = convert({ [member]: [definition] })[member];
    return Array.isArray(items) ? (items[0] as JsonObject | undefined) : undefined;
  }

  #requireFree(key: string): void {
    if (this.#slots.has(key))
      throw new RegistrationError(`${this.#init.noun} "${key}" is registered already: choose another name, or update or remove the first`);
  }
}

/** Goes on with a value, at once where it is there. */
function after<T, Next>(value: T | Promise<T>, next: (value: T) => Next | Promise<Next>): Next | Promise<Next> {
  return isThenable(value) ? Promise.resolve(value).then(next) : next(value as T);
}
