/** Reads the server's lists page by page. */

import { InvalidResponseError, type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS } from '@mortise/jsonrpc-core/messages';
import type { Prompt, Resource, ResourceTemplate, Tool } from '@mortise/protocol/model';

/** The paginated lists: for each method, the type of its items and their key in the result. */
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

/**
 * The lists with change notifications, by their key in a `subscriptions/listen` filter: the notification, the capability by which a legacy
 * server declares it, and the methods whose results change.
 */
export const LIST_CHANGES = {
  toolsListChanged: { notification: 'notifications/tools/list_changed', capability: 'tools.listChanged', methods: ['tools/list'] },
  promptsListChanged: { notification: 'notifications/prompts/list_changed', capability: 'prompts.listChanged', methods: ['prompts/list'] },
  resourcesListChanged: {
    notification: 'notifications/resources/list_changed',
    capability: 'resources.listChanged',
    methods: ['resources/list', 'resources/templates/list'],
  },
} as const;

const MAX_PAGES = 1000;
/** The longest cursor accepted, in characters. Each cursor is remembered until the list ends, so this limits the memory. */
const MAX_CURSOR_LENGTH = 65_536;

/** Fetches one page of a list. */
type FetchPage = (params: JsonObject) => Promise<JsonObject>;

/**
 * Reads all pages of a list, each only when its first item is needed. Cursors are sent back unchanged, also the empty string.
 *
 * @param isCached Whether pages may come from the cache, whose cursors may be stale. If the server refuses a cursor, the list is read once
 *   more from its beginning, and as many items as were already returned are skipped.
 * @throws {InvalidResponseError} A cursor is repeated or is not a string of at most 65,536 characters, or the list has more than 1,000 pages.
 * @see 2026-07-28 server/utilities/pagination
 */
export async function* readPages<M extends keyof ListItems>(
  method: M,
  fetchPage: FetchPage,
  isCached: boolean,
): AsyncGenerator<ListItems[M], void, undefined> {
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let given = 0;
  let skipped = 0;
  let canStartAgain = isCached;
  do {
    if (cursors.size >= MAX_PAGES) throw new InvalidResponseError(`"${method}" has more than ${MAX_PAGES} pages: request them one by one`);
    let page: JsonObject;
    try {
      page = await fetchPage(cursor === undefined ? {} : { cursor });
    } catch (error) {
      const isRefused = cursor !== undefined && error instanceof RemoteError && error.rpcCode === INVALID_PARAMS;
      if (!isRefused || !canStartAgain) throw error;
      canStartAgain = false;
      [skipped, given] = [given, 0];
      cursors.clear();
      page = await fetchPage({});
    }
    for (const item of page[LIST_KEYS.get(method) ?? ''] as readonly ListItems[M][]) {
      given += 1;
      if (given > skipped) yield item;
    }
    cursor = readCursor(method, page, cursors);
  } while (cursor !== undefined);
}

function readCursor(method: string, { nextCursor: next }: JsonObject, before: Set<string>): string | undefined {
  if (next === undefined || next === null) return undefined;
  if (typeof next !== 'string' || next.length > MAX_CURSOR_LENGTH) {
    throw new InvalidResponseError(`the server's cursor for "${method}" is not a string of at most ${MAX_CURSOR_LENGTH} characters`);
  }
  if (before.has(next)) throw new InvalidResponseError(`the list of "${method}" has no end: the server returned the same cursor twice`);
  before.add(next);
  return next;
}
