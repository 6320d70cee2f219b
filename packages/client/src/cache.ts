/** `@mortise/client/cache`: a cache of results that several clients share. */

export { createResultCache, type ResultCache, type ResultCacheOptions } from './result-cache.ts';
