/** What a tool says about itself, with the defaults of the specification. */

import type { Tool } from '@mortise/protocol';

/** A tool's hints, none of them absent. */
export interface ToolHints {
  /** Changes nothing. */
  readonly isReadOnly: boolean;
  /** May destroy something. Never for a read-only tool. */
  readonly isDestructive: boolean;
  /** The same call again changes nothing more. Always for a read-only tool. */
  readonly isIdempotent: boolean;
  /** Deals with things outside a closed set, such as the web. */
  readonly isOpenWorld: boolean;
}

/**
 * Gives a tool's hints with the defaults where the server was silent.
 *
 * The hints are the server's own words. Unless you trust the server, show them but decide nothing by them: `isTrusted: false`
 * gives the cautious answer whatever the server said.
 *
 * @param options.isTrusted Whether to believe the server. @default true
 * @see 2026-07-28 schema#toolannotations
 */
export function toolHints(tool: Pick<Tool, 'annotations'>, options: { readonly isTrusted?: boolean } = {}): ToolHints {
  const said = options.isTrusted === false ? {} : (tool.annotations ?? {});
  const isReadOnly = said.readOnlyHint === true;
  return {
    isReadOnly,
    isDestructive: !isReadOnly && said.destructiveHint !== false,
    isIdempotent: isReadOnly || said.idempotentHint === true,
    isOpenWorld: said.openWorldHint !== false,
  };
}
