/**
 * Roots: directories on the client's machine that a server should work in. They are guidance, not access control.
 *
 * Deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { MetaObject } from './meta.ts';

/** A directory that a server should work in. @deprecated since 2026-07-28: use tool arguments, resource URIs or configuration. */
export interface Root extends JsonObject {
  /** The URI of the directory, which begins with `file://`. */
  readonly uri: string;
  readonly name?: string | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** The result of `roots/list`. @deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration. */
export interface ListRootsResult extends JsonObject {
  readonly roots: readonly Root[];
  readonly _meta?: MetaObject | undefined;
}
