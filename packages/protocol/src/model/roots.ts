/**
 * Roots: the places on the client's machine that a server may work in. Guidance, not access control.
 *
 * Deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration.
 */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { MetaObject } from './meta.ts';

/** @deprecated since 2026-07-28: pass directories as tool arguments, resource URIs or configuration. */
export interface Root extends JsonObject {
  /** Begins with `file://`. */
  readonly uri: string;
  readonly name?: string | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** @deprecated as `Root` is: pass folders as tool arguments, resource URIs or configuration. */
export interface ListRootsResult extends JsonObject {
  readonly roots: readonly Root[];
  readonly _meta?: MetaObject | undefined;
}
