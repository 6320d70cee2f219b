/** The lists of a server, read through page by page. */

import { RemoteError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { PaginatedRequestParams, PaginatedResult } from '@mortise/protocol/model';
import { CALL_OPTIONS, type CallOptions } from './client-options.ts';
import { InvalidResultError } from './errors.ts';

/** How a list is read through. */
export interface PagesOptions extends CallOptions {
  /** How many pages are fetched before the list is given up. @default 1_000 */
  readonly maxPages?: number | undefined;
}

/** One reading of a list. */
export interface PagesReading {
  readonly options: PagesOptions;
  /** Whether pages may have been kept, so that the cursor of one may be too old. */
  mayBeStale(): boolean;
}

/** Each is remembered until the list ends, and sent back. */
const MAX_CURSOR_LENGTH = 65_536;
/** How many characters of names and addresses are remembered for reading a list anew. */
const MAX_REMEMBERED = 8_000_000;

/**
 * Reads all pages of a list, one after the other, each only when it is needed. A cursor goes back as it came; the empty string is one.
 *
 * Where the cursor of a kept page is refused, the list is read once more from its beginning, without the items that were given already.
 *
 * @throws {InvalidResultError} A cursor came twice, is not a string of at most 65,536 characters, or there are more than `maxPages` pages.
 * @see 2026-07-28 server/utilities/pagination
 */
export async function* readPages<Page extends PaginatedResult, Item extends object>(
  method: string,
  fetchPage: (params: PaginatedRequestParams, options: CallOptions) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
  { options, mayBeStale }: PagesReading,
): AsyncGenerator<Item, void, undefined> {
  checkOptions(`the options of "${method}"`, options, { ...CALL_OPTIONS, maxPages: 1 });
  const { maxPages = 1000, ...call } = options;
  const cursors = new Set<string>();
  const given = new Set<string>();
  let remembered = 0;
  let isReadAnew = false;
  let cursor: string | undefined;
  for (;;) {
    if (cursors.size >= maxPages)
      throw new InvalidResultError(`"${method}" has more than ${maxPages} pages: raise maxPages if that is right`);
    let page: Page;
    try {
      page = await fetchPage(cursor === undefined ? {} : { cursor }, call);
    } catch (error) {
      const isRefused = cursor !== undefined && error instanceof RemoteError && error.rpcCode === INVALID_PARAMS;
      if (!isRefused || isReadAnew || given.size === 0 || remembered > MAX_REMEMBERED) throw error;
      isReadAnew = true;
      cursor = undefined;
      cursors.clear();
      continue;
    }
    for (const item of itemsOf(page)) {
      const key = keyOf(item);
      if (isReadAnew && given.has(key)) continue;
      if (mayBeStale() && (remembered += key.length) <= MAX_REMEMBERED) given.add(key);
      yield item;
    }
    cursor = page.nextCursor ?? undefined;
    if (cursor === undefined) return;
    if (typeof cursor !== 'string' || cursor.length > MAX_CURSOR_LENGTH) {
      throw new InvalidResultError(`"${method}" gave a cursor that is not a string of at most ${MAX_CURSOR_LENGTH} characters`);
    }
    if (cursors.has(cursor)) throw new InvalidResultError(`"${method}" goes round in a circle: the server gave the same cursor twice`);
    cursors.add(cursor);
  }
}

/** Tells an item from all others of its list. */
function keyOf(item: { readonly name?: unknown; readonly uri?: unknown; readonly uriTemplate?: unknown }): string {
  return String(item.uri ?? item.uriTemplate ?? item.name);
}
