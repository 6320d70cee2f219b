/** The lists of a server: fetched by the page, or read through. */

import { type JsonObject, RemoteError } from '@mortise/jsonrpc-core';
import { INVALID_PARAMS, isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { PaginatedRequestParams, PaginatedResult, ResourceTemplate } from '@mortise/protocol/model';
import type { CallOptions } from './call-options.ts';
import type { ListItems } from './changes.ts';
import type { Client } from './client.ts';
import { InvalidResultError } from './errors.ts';
import { type PageLimits, type PageRestart, readPages } from './pages.ts';
import { withArray } from './read-result.ts';

/** How a list is read through. */
export interface PagesOptions extends CallOptions, PageLimits {}

/** Each list by the key of its items, with its method. */
const LISTS = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const;

type ListKey = keyof typeof LISTS;

/** What each list is of. */
interface ItemOf extends ListItems {
  readonly resourceTemplates: ResourceTemplate;
}

/** Fetches one page, whose items are objects. @throws {InvalidResultError} They are not. */
export async function fetchListPage(
  client: Pick<Client, 'request'>,
  list: ListKey,
  params: PaginatedRequestParams,
  options: CallOptions | undefined,
): Promise<JsonObject> {
  const method = LISTS[list];
  const result = withArray(method, list, await client.request(method, params, options));
  if ((result[list] as readonly unknown[]).every(isJsonObject)) return result;
  throw new InvalidResultError(`the result of "${method}" has something in "${list}" that is no object: the server is at fault`);
}

/** Reads a whole list. @param keepsResults Whether pages may have been kept, so that a cursor may be too old. */
export function readList<Key extends ListKey>(
  list: Key,
  fetchPage: (params: PaginatedRequestParams) => Promise<PaginatedResult & Readonly<Record<Key, readonly ItemOf[Key][]>>>,
  limits: PageLimits,
  keepsResults: boolean,
): AsyncIterableIterator<ItemOf[Key]> {
  return readPages(
    LISTS[list],
    (cursor) => fetchPage(cursor === undefined ? {} : { cursor }),
    (page): readonly ItemOf[Key][] => page[list],
    limits,
    keepsResults ? restartOf<ItemOf[Key]>() : undefined,
  );
}

/** A cursor that came with a kept page may be good no more. */
function restartOf<Item>(): PageRestart<Item> {
  return {
    isWanted: (error) => error instanceof RemoteError && error.rpcCode === INVALID_PARAMS,
    keyOf: (item) => {
      const { name, uri, uriTemplate } = item as { readonly name?: unknown; readonly uri?: unknown; readonly uriTemplate?: unknown };
      return uri ?? uriTemplate ?? name;
    },
  };
}
