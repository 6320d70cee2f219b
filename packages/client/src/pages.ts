/** Lists in pages, read as one stream. */

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

const DEFAULT_MAX_PAGES = 1000;

/**
 * Reads all pages of a list, one after the other, each only when it is needed.
 *
 * A cursor is handed back as it came; the empty string is one. The list ends where `nextCursor` is absent or `null`.
 *
 * @param what The list's method, for error messages.
 * @throws {PagingError} `ERR_PAGING`: a cursor came twice, or there are more than `maxPages` pages.
 * @see 2026-07-28 server/utilities/pagination
 */
export async function* readPages<Page extends PaginatedResult, Item>(
  what: string,
  fetchPage: (cursor: string | undefined) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  limits: PageLimits = {},
): AsyncGenerator<Item, void, undefined> {
  const maxPages = limits.maxPages ?? DEFAULT_MAX_PAGES;
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    if (seen.size >= maxPages) throw new PagingError(`"${what}" has more than ${maxPages} pages: raise maxPages if that is right`);
    const page = await fetchPage(cursor);
    yield* itemsOf(page);
    cursor = page.nextCursor ?? undefined;
    if (cursor !== undefined && seen.has(cursor))
      throw new PagingError(`"${what}" goes round in a circle: the server gave the same cursor twice`);
    seen.add(cursor ?? '');
  } while (cursor !== undefined);
}
