/** Checks of tools' structured output against the schemas that the server lists. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { JsonSchemaValidator, SchemaIssue } from '@mortise/protocol/contracts';
import type { CallToolResult, ListToolsResult } from '@mortise/protocol/model';
import { ToolResultError } from './errors.ts';

/** Gives what is wrong with a value; nothing where it fits. */
export type SchemaCheck = (value: unknown) => readonly SchemaIssue[];

/** What schemas are compiled with. */
export interface SchemaParts {
  /** The program's own; undefined for the one of `@mortise/protocol/json-schema`, which is loaded for the first schema. */
  readonly validator: JsonSchemaValidator | undefined;
  /** Called with the parts of a schema that are left unchecked. */
  onError(error: Error): void;
}

export async function compileSchema(schema: JsonObject, { validator, onError }: SchemaParts): Promise<SchemaCheck> {
  if (validator) return validator.compile(schema);
  const { createJsonSchemaValidator } = await import('@mortise/protocol/json-schema');
  return createJsonSchemaValidator({ from: 'peer', onWarning: (message) => onError(new Error(message)) }).compile(schema);
}

const MAX_SCHEMAS = 10_000;
/** In characters of JSON, all schemas and the names of their tools together. */
const MAX_CHARACTERS = 8_000_000;

interface KnownSchema {
  /** Text: as an object it may take thirty times as much memory. */
  readonly text: string;
  /** Compiled when it is first needed. */
  check?: Promise<SchemaCheck>;
}

/** The output schemas of the tools that were listed, those listed last where there are too many. */
export class OutputChecks {
  readonly #parts: SchemaParts;
  readonly #schemas = new Map<string, KnownSchema>();
  #characters = 0;

  constructor(parts: SchemaParts) {
    this.#parts = parts;
  }

  /** Notes the tools of a page, which is given back. The schemas of other tools stay. */
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
      this.#parts.onError(new Error(`the server lists more output schemas than are kept: results of ${dropped} tools are not checked`));
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

  /** Forgets everything: the tools have changed. */
  forget(): void {
    this.#schemas.clear();
    this.#characters = 0;
  }

  /**
   * Gives the result back if its structured content fits. A result with `isError` is not checked, nor one of a tool that was not
   * listed, or that the server has pushed out by listing too many others: it decides itself whether a tool has a schema.
   *
   * @throws {ToolResultError} `ERR_TOOL_OUTPUT`: it does not fit, is missing, or the schema cannot be checked.
   */
  check(tool: unknown, result: CallToolResult): CallToolResult | Promise<CallToolResult> {
    const known = this.#schemas.get(tool as string);
    return known === undefined || result.isError === true ? result : this.#check(String(tool), known, result);
  }

  async #check(tool: string, known: KnownSchema, result: CallToolResult): Promise<CallToolResult> {
    const { structuredContent } = result;
    const misfit = (message: string, more?: ErrorOptions & { readonly issues?: readonly SchemaIssue[] }): ToolResultError =>
      new ToolResultError('ERR_TOOL_OUTPUT', message, tool, result, more);
    // `null` is a value.
    if (structuredContent === undefined) {
      throw misfit(`the tool "${tool}" has an outputSchema but its result has no structuredContent`);
    }
    const check = await (known.check ??= compileSchema(JSON.parse(known.text) as JsonObject, this.#parts)).catch((cause: unknown) => {
      const why = cause instanceof Error ? cause.message : 'it cannot be compiled';
      const message = `the outputSchema of the tool "${tool}" cannot be checked: ${why}. The option "validator: false" lets its results pass unchecked`;
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
