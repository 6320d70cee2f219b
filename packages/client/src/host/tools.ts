/** Unique tool names for a model with several servers, display names, and tool hints with defaults. */

import type { BaseMetadata, Tool } from '@mortise/protocol/model';

/** The tools of one server. */
export interface NamedTools {
  /**
   * The program's own name for the server, such as its configuration key. Do not use `serverInfo.name`: the server chooses it, and it is
   * not unique.
   */
  readonly server: string;
  readonly tools: readonly Tool[];
}

/** Where a tool with a unique name comes from: the server and the tool's original name. */
export interface ToolPlace {
  readonly server: string;
  readonly tool: Tool;
}

const MAX_LENGTH = 128;

/**
 * Gives each tool of several servers a unique name: its own name if no other tool has it, else `server_tool`, with a number appended if that
 * name is taken too. All names are valid tool names.
 *
 * @returns A map from unique name to server and tool, in the order of the servers and their lists.
 * @see 2026-07-28 server/tools#tool-names
 */
export function uniqueToolNames(servers: readonly NamedTools[]): ReadonlyMap<string, ToolPlace> {
  const counts = new Map<string, number>();
  for (const { tools } of servers) for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const places = new Map<string, ToolPlace>();
  for (const { server, tools } of servers) {
    for (const tool of tools) {
      const wanted = counts.get(tool.name) === 1 ? tool.name : `${server.replaceAll(/[^A-Za-z0-9_.-]/gu, '-')}_${tool.name}`;
      let name = wanted.slice(0, MAX_LENGTH);
      // Does not take the own name of another tool.
      for (let n = 2; places.has(name) || (name !== tool.name && counts.has(name)); n += 1)
        name = `${wanted.slice(0, MAX_LENGTH - 1 - String(n).length)}_${n}`;
      places.set(name, { server, tool });
    }
  }
  return places;
}

/**
 * Returns the display name: `title`, else a tool's `annotations.title`, else `name`.
 *
 * @see 2026-07-28 schema#basemetadata
 */
export function displayName(thing: BaseMetadata): string {
  const { title, annotations, name } = thing as BaseMetadata & { readonly annotations?: { readonly title?: unknown } };
  if (title !== undefined) return title;
  return typeof annotations?.title === 'string' ? annotations.title : name;
}

/** A tool's hints, with defaults for those that are absent. */
export interface ToolHints {
  /** Whether the tool leaves its environment unchanged. */
  readonly isReadOnly: boolean;
  /** Whether the tool may destroy data. Always false for a read-only tool. */
  readonly isDestructive: boolean;
  /** Whether repeating a call with the same arguments has no further effect. Always true for a read-only tool. */
  readonly isIdempotent: boolean;
  /** Whether the tool works with an open world, such as the web. */
  readonly isOpenWorld: boolean;
}

/**
 * Returns the hints of a trusted server's tool, with the defaults of the specification for those that are absent.
 *
 * A server may set false hints. Unless you trust the server, its hints are ignored, and you get the most cautious values.
 *
 * @param options.isTrusted Whether to use the server's hints. Set it for servers that the user or the program trusts. @default false
 * @see 2026-07-28 schema#toolannotations
 */
export function toolHints(tool: Pick<Tool, 'annotations'>, options: { readonly isTrusted?: boolean } = {}): ToolHints {
  const said = options.isTrusted === true ? (tool.annotations ?? {}) : {};
  const isReadOnly = said.readOnlyHint === true;
  return {
    isReadOnly,
    isDestructive: !isReadOnly && said.destructiveHint !== false,
    isIdempotent: isReadOnly || said.idempotentHint === true,
    isOpenWorld: said.openWorldHint !== false,
  };
}
