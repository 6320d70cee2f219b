/** Checks tools' structured output against the schemas that the server's list shows. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import type { CallToolResult, Tool } from '@mortise/protocol';
import type { JsonSchemaValidator, SchemaIssue } from '@mortise/protocol/contracts';
import { OutputSchemaError, ToolOutputError } from './errors.ts';
import { weigh } from './weigh.ts';

/** How much all schemas together may hold, counted in characters of their strings and a few for each value. */
const MAX_WEIGHT = 8_000_000;

type Check = (value: unknown) => readonly SchemaIssue[];

/** The schemas of the tools that have been listed. Compiled when first needed, each on its own: a bad one spoils no other. */
export class OutputChecks {
  readonly #given: JsonSchemaValidator | false | undefined;
  readonly #report: (error: Error) => void;
  readonly #schemas = new Map<string, { readonly schema: JsonObject; readonly weight: number }>();
  readonly #checks = new Map<string, Check | undefined>();
  #weight = 0;
  #loaded: JsonSchemaValidator | undefined;

  constructor(validator: JsonSchemaValidator | false | undefined, report: (error: Error) => void) {
    this.#given = validator;
    this.#report = report;
  }

  /** Notes the tools of a page. What is known of others stays. */
  learn(tools: readonly Tool[]): void {
    if (this.#given === false) return;
    for (const { name, outputSchema } of tools) {
      const known = this.#schemas.get(name);
      if (outputSchema === known?.schema) continue;
      this.#checks.delete(name);
      this.#schemas.delete(name);
      this.#weight -= known?.weight ?? 0;
      if (isJsonObject(outputSchema)) this.#keep(name, outputSchema);
    }
  }

  /** Forgets everything: the tools have changed. */
  forget(): void {
    this.#schemas.clear();
    this.#checks.clear();
    this.#weight = 0;
  }

  /**
   * Gives the result back if its structured content fits. A result that says `isError` is not checked.
   *
   * @throws {ToolOutputError} `ERR_TOOL_OUTPUT`: it does not fit, or is missing.
   */
  check(tool: string, result: CallToolResult): CallToolResult | Promise<CallToolResult> {
    const schema = this.#schemas.get(tool)?.schema;
    if (schema === undefined || result.isError === true) return result;
    const check = this.#checks.get(tool);
    if (check) return assertFits(tool, check, result);
    if (this.#checks.has(tool)) return result;
    return this.#compile(tool, schema).then((compiled) => (compiled ? assertFits(tool, compiled, result) : result));
  }

  /** A server may list without end; what is kept of it has one. */
  #keep(name: string, schema: JsonObject): void {
    const weight = weigh(schema, MAX_WEIGHT - this.#weight);
    if (this.#weight + weight <= MAX_WEIGHT) {
      this.#weight += weight;
      this.#schemas.set(name, { schema, weight });
    } else this.#report(new OutputSchemaError(name, new Error('the schemas of all tools together are too large')));
  }

  async #compile(tool: string, schema: JsonObject): Promise<Check | undefined> {
    let compiled: Check | undefined;
    try {
      compiled = (this.#given || (await this.#load())).compile(schema);
    } catch (error) {
      this.#report(new OutputSchemaError(tool, error));
    }
    if (this.#schemas.get(tool)?.schema === schema) this.#checks.set(tool, compiled);
    return compiled;
  }

  async #load(): Promise<JsonSchemaValidator> {
    this.#loaded ??= (await import('./default-validator.ts')).createJsonSchemaValidator({
      from: 'peer',
      onWarning: (message) => this.#report(new Error(message)),
    });
    return this.#loaded;
  }
}

/** `null` is a value; only a member that is absent is none. */
function assertFits(tool: string, check: Check, result: CallToolResult): CallToolResult {
  const { structuredContent } = result;
  if (structuredContent === undefined) {
    throw new ToolOutputError(`the tool "${tool}" has an outputSchema but its result has no structuredContent`, tool, [], result);
  }
  const issues = check(structuredContent);
  const [first] = issues;
  if (!first) return result;
  const where = first.path.length > 0 ? ` at ${first.path.join('.')}` : '';
  throw new ToolOutputError(
    `the structuredContent of the tool "${tool}" does not fit its outputSchema${where}: ${first.message}`,
    tool,
    issues,
    result,
  );
}
