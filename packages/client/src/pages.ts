/** Lists in pages, read as one stream. */

import { checkAmounts } from '@mortise/jsonrpc-core/transport';
import type { PaginatedResult } from '@mortise/protocol/model';
import { PagingError } from './errors.ts';

/** How far a list may go. */
export interface PageLimits {
  /**
   * How many pages are fetched before the list is given up.
   *
   * @default 1_000
   */
  readonly maxPages?: number | undefined;
}

/** How a list whose pages may have been kept is read. */
export interface PageRestart<Item> {
  /** Whether a page failed because its cursor, which was good once, is good no more. */
  isWanted(error: unknown): boolean;
  /** Tells an item from all others of its list. */
  keyOf(item: Item): unknown;
}

const DEFAULT_MAX_PAGES = 1000;
/** Each is remembered until the list ends, and sent back. */
const MAX_CURSOR_LENGTH = 65_536;
/** How much of keys is remembered for reading a list anew, in characters. */
const MAX_KEY_CHARACTERS = 8_000_000;

/**
 * Reads all pages of a list, one after the other, each only when it is needed.
 *
 * A cursor is handed back as it came; the empty string is one. The list ends where `nextCursor` is absent or `null`. What is remembered of a
 * list while it is read is bounded, whatever the server sends.
 *
 * @param what The list's method, for error messages.
 * @param restart Reads the list once more from its beginning, without the items that were given already, where a cursor that came with a kept
 *   page is refused.
 * @throws {PagingError} `ERR_PAGING`: a cursor came twice, is no string, or has more than 65,536 characters, or there are more than `maxPages`
 *   pages.
 * @throws {RangeError} `maxPages` is no number, or less than 1.
 * @see 2026-07-28 server/utilities/pagination
 */
export async function* readPages<Page extends PaginatedResult, Item>(
  what: string,
  fetchPage: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  limits: PageLimits = {},
  restart?: PageRestart<Item>,
): AsyncGenerator<Item, void, undefined> {
  checkAmounts('the options of a list', limits, { maxPages: 1 });
  const maxPages = limits.maxPages ?? DEFAULT_MAX_PAGES;
  const seen = new Set<string>();
  const given = new Set<unknown>();
  let left = restart;
  let keyCharacters = 0;
  let cursor: string | undefined;
  for (;;) {
    if (seen.size >= maxPages) throw new PagingError(`"${what}" has more than ${maxPages} pages: raise maxPages if that is right`);
    const page: Page | undefined = await fetchPage(cursor).catch((error: unknown) => {
      if (cursor === undefined || left?.isWanted(error) !== true) throw error;
      return undefined;
    });
    if (page === undefined) {
      left = undefined;
      cursor = undefined;
      seen.clear();
      continue;
    }
    for (const item of itemsOf(page)) {
      const key = restart?.keyOf(item);
      if (key !== undefined && given.has(key)) continue;
      if (typeof key === 'string' && (keyCharacters += key.length) <= MAX_KEY_CHARACTERS) given.add(key);
      yield item;
    }
    // What was given can no longer be told from what was not.
    if (keyCharacters > MAX_KEY_CHARACTERS) left = undefined;
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) return;
    if (!isCursor(cursor)) throw new PagingError(`"${what}" gave a cursor that is no string of at most ${MAX_CURSOR_LENGTH} characters`);
    if (seen.has(cursor)) throw new PagingError(`"${what}" goes round in a circle: the server gave the same cursor twice`);
    seen.add(cursor);
  }
}

function isCursor(value: unknown): boolean {
  return typeof value === 'string' && value.length <= MAX_CURSOR_LENGTH;
}
