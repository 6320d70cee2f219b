/** Tools: what a server does when a model asks. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { ContentBlock } from './content.ts';
import type { BaseMetadata, Icons } from './implementation.ts';
import type { InputResponseRequestParams } from './input-required.ts';
import type { CacheableResult, MetaObject, PaginatedResult, Result } from './meta.ts';
import type { TaskMetadata } from './tasks.ts';

/**
 * Hints on what a tool does. Untrusted unless the server is trusted. Since 2025-03-26.
 *
 * @see 2026-07-28 schema#toolannotations
 */
export interface ToolAnnotations extends JsonObject {
  readonly title?: string | undefined;
  /** Changes nothing. @default false */
  readonly readOnlyHint?: boolean | undefined;
  /** May destroy something, where it is not read-only. @default true */
  readonly destructiveHint?: boolean | undefined;
  /** The same call again changes nothing more, where it is not read-only. @default false */
  readonly idempotentHint?: boolean | undefined;
  /** Deals with things outside a closed set, such as the web. @default true */
  readonly openWorldHint?: boolean | undefined;
}

/** How a tool runs. @until 2025-11-25; later revisions have the tasks extension. */
export interface ToolExecution extends JsonObject {
  /** Whether it may, must or must not be called as a task. @default 'forbidden' */
  readonly taskSupport?: 'forbidden' | 'optional' | 'required' | undefined;
}

/**
 * A tool as lists show it.
 *
 * @see 2026-07-28 server/tools#tool
 */
export interface Tool extends BaseMetadata, Icons {
  readonly description?: string | undefined;
  readonly inputSchema: ObjectJsonSchema;
  /** Of `structuredContent`. Its root is an object up to 2025-11-25, anything later. Since 2025-06-18. */
  readonly outputSchema?: JsonSchemaObject | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** @until 2025-11-25 */
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
  /** Asks for a task. @until 2025-11-25 */
  readonly task?: TaskMetadata | undefined;
}

/**
 * What a tool said.
 *
 * @see 2026-07-28 server/tools#tool-result
 */
export interface CallToolResult extends Result {
  /** Always there; may be empty. */
  readonly content: readonly ContentBlock[];
  /** Since 2025-06-18: an object; since 2026-07-28: any value, `null` included; absent: no structured content. */
  readonly structuredContent?: JsonValue | undefined;
  /** The tool failed, and `content` says how. @default false */
  readonly isError?: boolean | undefined;
}

/** A JSON Schema. Without `$schema` it is read as 2020-12. */
interface JsonSchemaObject extends JsonObject {
  readonly $schema?: string | undefined;
}

/** A JSON Schema whose root is an object, as tools' inputs are. */
interface ObjectJsonSchema extends JsonSchemaObject {
  readonly type: 'object';
  readonly properties?: JsonObject | undefined;
  readonly required?: readonly string[] | undefined;
}
