/**
 * Which arguments of a server's tools travel in `Mcp-Param-*` headers. Learnt from the lists of tools that pass through, so that nobody
 * above has to know of it.
 *
 * @see 2026-07-28 basic/transports/streamable-http#custom-headers-from-tool-parameters
 */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { PARAM_HEADER_KEYWORD, readParamHeaders } from '@mortise/protocol/checks';
import type { ParamHeaders } from '@mortise/protocol/contracts';
import { ToolHeaderError } from '../../errors.ts';
import { encodeHeaderValue, PARAM_HEADER_PREFIX, readPath, toParamText } from '../../headers.ts';

const MAX_TOOLS = 10_000;

export class ToolHeaders {
  /** Only tools that mark something, the oldest first. */
  readonly #tools = new Map<string, ParamHeaders>();

  /**
   * Tells whether the text of a list can mark anything. Most do not, and then none of its schemas is walked. A name in JSON may be
   * written with escapes, so a text with any is looked at.
   */
  static mayMark(text: string): boolean {
    return text.includes(PARAM_HEADER_KEYWORD) || text.includes('\\u');
  }

  /**
   * Learns from a page of `tools/list`.
   *
   * @param mayMark Whether any of its tools can mark something, see `mayMark`.
   * @param report Told each tool that is left out because a mark of it does not hold.
   * @returns The page, without those tools.
   */
  learn(page: JsonObject, mayMark: boolean, report: (error: ToolHeaderError) => void): JsonObject {
    const { tools } = page;
    if (!Array.isArray(tools) || (!mayMark && this.#tools.size === 0)) return page;
    const kept = (tools as readonly JsonValue[]).filter((tool) => this.#learnOne(tool, mayMark, report));
    return kept.length === tools.length ? page : { ...page, tools: kept };
  }

  /** The headers of one call, by lower-case name; undefined where it has none. */
  headersOf(params: JsonObject | undefined): Record<string, string> | undefined {
    const marked = this.#tools.get(String(params?.['name']));
    if (marked === undefined) return undefined;
    const headers: Record<string, string> = {};
    for (const [name, path] of marked) {
      const text = toParamText(readPath(params?.['arguments'], path));
      if (text !== undefined) headers[PARAM_HEADER_PREFIX + name.toLowerCase()] = encodeHeaderValue(text);
    }
    return headers;
  }

  /** @returns Whether the tool stays in its list. */
  #learnOne(tool: JsonValue, mayMark: boolean, report: (error: ToolHeaderError) => void): boolean {
    if (!isJsonObject(tool) || typeof tool['name'] !== 'string') return true;
    const { name, inputSchema } = tool;
    this.#tools.delete(name);
    if (!mayMark || !isJsonObject(inputSchema)) return true;
    const headers = new Map<string, readonly string[]>();
    const fault = readParamHeaders(inputSchema, headers);
    if (fault !== undefined) {
      report(new ToolHeaderError(`The tool "${name}" was left out: ${fault}`, name));
      return false;
    }
    if (headers.size > 0) this.#keep(name, headers);
    return true;
  }

  #keep(name: string, headers: ParamHeaders): void {
    this.#tools.set(name, headers);
    if (this.#tools.size <= MAX_TOOLS) return;
    for (const oldest of this.#tools.keys()) {
      this.#tools.delete(oldest);
      return;
    }
  }
}
