/** What modern results say about caching where nothing nearer says it. */

import type { CacheScope } from '@mortise/protocol/model';
import { RegistrationError } from './errors.ts';
import type { CacheHints, CacheOptions } from './options.ts';

/** The lists of `CacheOptions.lists`, by method. */
const LISTS: Readonly<Record<string, keyof NonNullable<CacheOptions['lists']>>> = {
  'tools/list': 'tools',
  'prompts/list': 'prompts',
  'resources/list': 'resources',
  'resources/templates/list': 'resourceTemplates',
  'server/discover': 'discovery',
};

/** Tells whether a value can be a `ttlMs`. */
export function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function isCacheScope(value: unknown): value is CacheScope {
  return value === 'public' || value === 'private';
}

/** The hints of a method's results. What is read is its reader's own unless the resource says otherwise. */
export function cacheHintsOf(
  method: string,
  { lists = {}, listTtlMs = 0, listScope = 'public', readTtlMs = 0 }: CacheOptions,
): Required<CacheHints> {
  const list = LISTS[method];
  if (list === undefined) return { ttlMs: readTtlMs, cacheScope: 'private' };
  return { ttlMs: lists[list]?.ttlMs ?? listTtlMs, cacheScope: lists[list]?.cacheScope ?? listScope };
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: a hint that may not be sent, or the hints of a list that does not exist. */
export function checkCacheOptions({ lists = {}, listTtlMs, listScope, readTtlMs }: CacheOptions): void {
  checkCacheHints('cache.listTtlMs and cache.listScope', { ttlMs: listTtlMs, cacheScope: listScope });
  checkCacheHints('cache.readTtlMs', { ttlMs: readTtlMs });
  const known: readonly string[] = Object.values(LISTS);
  for (const [list, hints = {}] of Object.entries(lists)) {
    if (!known.includes(list)) throw new RegistrationError(`cache.lists: there is no "${list}": there are ${known.join(', ')}`);
    checkCacheHints(`cache.lists.${list}`, hints);
  }
}

/** @throws {RegistrationError} `ERR_REGISTRATION` @see 2026-07-28 server/utilities/caching */
export function checkCacheHints(owner: string, { ttlMs, cacheScope }: CacheHints): void {
  if (ttlMs !== undefined && !isTtl(ttlMs))
    throw new RegistrationError(`${owner}: a time to live is an integer of milliseconds, 0 or more, got ${String(ttlMs)}`);
  if (cacheScope !== undefined && !isCacheScope(cacheScope))
    throw new RegistrationError(`${owner}: a cache scope is "public" or "private", got ${JSON.stringify(cacheScope)}`);
}
