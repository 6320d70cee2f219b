/** The lists of a server, read through page by page. */

import { type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';
import type { CallOptions } from './client-options.ts';
import { InvalidResultError } from './errors.ts';

/** The lists that come in pages: the type of their items, and the key that they stand under. */
export interface ListItems {
  'tools/list': Tool;
  'prompts/list': Prompt;
  'resources/list': Resource;
  'resources/templates/list': ResourceTemplate;
}

export const LIST_KEYS: ReadonlyMap<string, string> = new Map([
  ['tools/list', 'tools'],
  ['prompts/list', 'prompts'],
  ['resources/list', 'resources'],
  ['resources/templates/list', 'resourceTemplates'],
]);

/** What fetches the pages of lists. */
export interface PageSource {
  request(method: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject>;
  /** Whether pages may have been kept, so that the cursor of one may be too old. */
  readonly hasKeptResults: boolean;
}

const MAX_PAGES = 1000;
/** Each cursor is remembered until the list ends, and sent back. */
const MAX_CURSOR_LENGTH = 65_536;
/** How many characters of names and addresses are remembered for reading a list anew. */
const MAX_REMEMBERED = 8_000_000;

/**
 * Reads all pages of a list, one after the other, each only when it is needed. A cursor goes back as it came; the empty string is one.
 *
 * Where the cursor of a kept page is refused, the list is read once more from its beginning, without the items that were given already.
 *
 * @throws {InvalidResultError} A cursor came twice, is not a string of at most 65,536 characters, or there are more than 1,000 pages.
 * @see 2026-07-28 server/utilities/pagination
 */
export async function* readPages<M extends keyof ListItems>(
  source: PageSource,
  method: M,
  options: CallOptions | undefined,
): AsyncGenerator<ListItems[M], void, undefined> {
  const cursors = new Set<string>();
  const given = new Set<string>();
  let remembered = 0;
  let isReadAnew = false;
  let cursor: string | undefined;
  for (;;) {
    if (cursors.size >= MAX_PAGES) throw new InvalidResultError(`"${method}" has more than ${MAX_PAGES} pages: request them one by one`);
    let page: JsonObject;
    try {
      page = await source.request(method, cursor === undefined ? {} : { cursor }, options);
    } catch (error) {
      const isRefused = cursor !== undefined && error instanceof RemoteError && error.rpcCode === INVALID_PARAMS;
      if (!isRefused || isReadAnew || given.size === 0 || remembered > MAX_REMEMBERED) throw error;
      isReadAnew = true;
      cursor = undefined;
      cursors.clear();
      continue;
    }
    for (const item of page[LIST_KEYS.get(method) ?? ''] as readonly ListItems[M][]) {
      const key = keyOf(item);
      if (isReadAnew && given.has(key)) continue;
      if (source.hasKeptResults && (remembered += key.length) <= MAX_REMEMBERED) given.add(key);
      yield item;
    }
    const next = page['nextCursor'] ?? undefined;
    if (next === undefined) return;
    if (typeof next !== 'string' || next.length > MAX_CURSOR_LENGTH) {
      throw new InvalidResultError(`"${method}" gave a cursor that is not a string of at most ${MAX_CURSOR_LENGTH} characters`);
    }
    if (cursors.has(next)) throw new InvalidResultError(`"${method}" goes round in a circle: the server gave the same cursor twice`);
    cursors.add(next);
    cursor = next;
  }
}

/** Tells an item from all others of its list. */
function keyOf(item: { readonly name?: unknown; readonly uri?: unknown; readonly uriTemplate?: unknown }): string {
  return String(item.uri ?? item.uriTemplate ?? item.name);
}
