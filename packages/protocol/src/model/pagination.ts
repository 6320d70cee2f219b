/** Lists in pages. */

import type { RequestParams, Result } from './meta.ts';

/** Where a page begins. Opaque: kept and given back, never read or changed. The empty string is a cursor. */
export type Cursor = string;

/**
 * Params of a list method.
 *
 * @see 2026-07-28 server/utilities/pagination
 */
export interface PaginatedRequestParams extends RequestParams {
  readonly cursor?: Cursor | undefined;
}

/** Result of a list method. The list ends where `nextCursor` is absent. */
export interface PaginatedResult extends Result {
  readonly nextCursor?: Cursor | undefined;
}
