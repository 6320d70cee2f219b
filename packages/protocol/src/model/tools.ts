/** Tools: functions of a server that a model can call. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { ContentBlock } from './content.ts';
import type { BaseMetadata, Icons } from './implementation.ts';
import type { InputResponseRequestParams } from './input-required.ts';
import type { CacheableResult, MetaObject, PaginatedResult, Result } from './meta.ts';
import type { TaskMetadata } from './tasks.ts';

/**
 * Hints on what a tool does. Do not rely on them unless you trust the server. Since 2025-03-26.
 *
 * @see 2026-07-28 schema#toolannotations
 */
export interface ToolAnnotations extends JsonObject {
  readonly title?: string | undefined;
  /** Whether the tool changes nothing. @default false */
  readonly readOnlyHint?: boolean | undefined;
  /** Whether the tool may delete or overwrite data. Meaningful only if the tool is not read-only. @default true */
  readonly destructiveHint?: boolean | undefined;
  /** Whether repeating a call has no further effect. Meaningful only if the tool is not read-only. @default false */
  readonly idempotentHint?: boolean | undefined;
  /** Whether the tool deals with an open set of things, such as the web. @default true */
  readonly openWorldHint?: boolean | undefined;
}

/** How a tool is executed: as a task or not. @until 2025-11-25; later revisions have the tasks extension. */
export interface ToolExecution extends JsonObject {
  /** Whether the tool may, must or must not be called as a task. @default 'forbidden' */
  readonly taskSupport?: 'forbidden' | 'optional' | 'required' | undefined;
}

/**
 * A tool, as `tools/list` returns it.
 *
 * @see 2026-07-28 server/tools#tool
 */
export interface Tool extends BaseMetadata, Icons {
  readonly description?: string | undefined;
  readonly inputSchema: ObjectJsonSchema;
  /** The schema of the result's `structuredContent`. Its root type is an object up to 2025-11-25, then any type. Since 2025-06-18. */
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** How the tool is executed: as a task or not. @until 2025-11-25 */
  readonly execution?: ToolExecution | undefined;
  readonly _meta?: MetaObject | undefined;
}

/** One page of `tools/list`. */
export interface ListToolsResult extends PaginatedResult, CacheableResult {
  readonly tools: readonly Tool[];
}

/** Params of `tools/call`. */
export interface CallToolRequestParams extends InputResponseRequestParams {
  readonly name: string;
  readonly arguments?: JsonObject | undefined;
  /** Asks the server to run this tool call as a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/**
 * The result of `tools/call`.
 *
 * @see 2026-07-28 server/tools#tool-result
 */
export interface CallToolResult extends Result {
  /** The tool's result as content blocks. Always present; may be empty. */
  readonly content: readonly ContentBlock[];
  /** The tool's result as JSON: an object since 2025-06-18; any JSON value, including `null`, since 2026-07-28. */
  readonly structuredContent?: JsonValue | undefined;
  /** True if the tool failed; `content` describes the error. @default false */
  readonly isError?: boolean | undefined;
}

/** A JSON Schema. Without `$schema` its dialect is 2020-12. */
interface JsonSchemaObject extends JsonObject {
  readonly $schema?: string | undefined;
}

/** A JSON Schema whose root type is an object, as tool inputs require. */
interface ObjectJsonSchema extends JsonSchemaObject {
  readonly type: 'object';
  readonly properties?: JsonObject | undefined;
  readonly required?: readonly string[] | undefined;
}
