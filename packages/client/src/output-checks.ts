/** Checks tools' structured output against the output schemas in the server's tool list. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { JsonSchemaValidator, SchemaIssue } from '@mortise/protocol/contracts';
import type { CallToolResult, ListToolsResult } from '@mortise/protocol/model';
import { ToolResultError } from './errors.ts';

/** Returns the schema violations of a value; empty if it is valid. */
export type SchemaCheck = (value: unknown) => readonly SchemaIssue[];

/** The parts of the client that `OutputChecks` uses to compile schemas. */
export interface SchemaParts {
  /** The program's validator; undefined for the default of `@mortise/protocol/json-schema`, loaded for the first schema. */
  readonly validator: JsonSchemaValidator | undefined;
  /** Called for each part of a schema that the validator cannot check. */
  onError(error: Error): void;
}

export async function compileSchema(schema: JsonObject, { validator, onError }: SchemaParts): Promise<SchemaCheck> {
  if (validator) return validator.compile(schema);
  const { createJsonSchemaValidator } = await import('@mortise/protocol/json-schema');
  return createJsonSchemaValidator({ from: 'peer', onWarning: (message) => onError(new Error(message)) }).compile(schema);
}

const MAX_SCHEMAS = 10_000;
/** The most characters of JSON that all stored schemas and tool names may have together. */
const MAX_CHARACTERS = 8_000_000;

interface KnownSchema {
  /** The schema as JSON text, because a parsed object may take thirty times as much memory. */
  readonly text: string;
  /** The compiled check of the schema, made at first use. */
  check?: Promise<SchemaCheck>;
}

/** The output schemas of the listed tools. If they exceed the size limit, those listed first are dropped. */
export class OutputChecks {
  readonly #parts: SchemaParts;
  readonly #schemas = new Map<string, KnownSchema>();
  #characters = 0;

  constructor(parts: SchemaParts) {
    this.#parts = parts;
  }

  /** Stores the output schemas of the tools on a page of the tool list, keeps those of other tools, and returns the page. */
  learn(page: ListToolsResult): ListToolsResult {
    for (const { name, outputSchema } of page.tools) {
      const known = this.#schemas.get(name);
      this.#drop(name);
      if (!isJsonObject(outputSchema)) continue;
      const text = JSON.stringify(outputSchema);
      this.#schemas.set(name, known?.text === text ? known : { text });
      this.#characters += name.length + text.length;
    }
    const dropped = this.#dropOldest();
    if (dropped > 0) {
      this.#parts.onError(
        new Error(`the output schemas of the server take too much memory: the results of ${dropped} tools are not checked`),
      );
    }
    return page;
  }

  #dropOldest(): number {
    let dropped = 0;
    for (const name of this.#schemas.keys()) {
      if (this.#schemas.size <= MAX_SCHEMAS && this.#characters <= MAX_CHARACTERS) break;
      this.#drop(name);
      dropped += 1;
    }
    return dropped;
  }

  #drop(name: string): void {
    const known = this.#schemas.get(name);
    if (!known) return;
    this.#schemas.delete(name);
    this.#characters -= name.length + known.text.length;
  }

  /** Removes all schemas, because the tools have changed. */
  forget(): void {
    this.#schemas.clear();
    this.#characters = 0;
  }

  /**
   * Checks a tool's result against its output schema and returns it. Does NOT check a result with `isError`, or the result of a tool whose
   * schema is not stored: the tool was not listed, or its schema was dropped.
   *
   * @throws {ToolResultError} `ERR_TOOL_OUTPUT`: structured content is missing or does not fit, or the schema cannot be compiled.
   */
  check(tool: unknown, result: CallToolResult): CallToolResult | Promise<CallToolResult> {
    const known = this.#schemas.get(tool as string);
    return known === undefined || result.isError === true ? result : this.#check(String(tool), known, result);
  }

  async #check(tool: string, known: KnownSchema, result: CallToolResult): Promise<CallToolResult> {
    const { structuredContent } = result;
    const misfit = (message: string, more?: ErrorOptions & { readonly issues?: readonly SchemaIssue[] }): ToolResultError =>
      new ToolResultError('ERR_TOOL_OUTPUT', message, tool, result, more);
    // `null` is valid structured content.
    if (structuredContent === undefined) {
      throw misfit(`the tool "${tool}" has an outputSchema but its result has no structuredContent`);
    }
    const check = await (known.check ??= compileSchema(JSON.parse(known.text) as JsonObject, this.#parts)).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : 'it cannot be compiled';
      const message = `the outputSchema of the tool "${tool}" cannot be checked: ${why}. The option "validator: false" turns the check off`;
      throw misfit(message, { cause });
    });
    const issues = check(structuredContent);
    const [first] = issues;
    if (!first) return result;
    const where = first.path.length > 0 ? ` at ${first.path.join('.')}` : '';
    const message = `the structuredContent of the tool "${tool}" does not fit its outputSchema${where}: ${first.message}`;
    throw misfit(message, { issues });
  }
}
