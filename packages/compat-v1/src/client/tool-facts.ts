/** What a client remembers of the tools that it has listed: how to check their output, and whether they run as tasks. */

import { ErrorCode, McpError, type Result, type Tool } from '../types.ts';
import type { jsonSchemaValidator, JsonSchemaValidator } from '../validation/types.ts';

export class ToolFacts {
  readonly #validators = new Map<string, JsonSchemaValidator<unknown>>();
  readonly #support = new Map<string, 'required' | 'optional'>();
  readonly #validator: jsonSchemaValidator;

  constructor(validator: jsonSchemaValidator) {
    this.#validator = validator;
  }

  learn(tools: readonly Tool[]): void {
    this.#validators.clear();
    this.#support.clear();
    for (const { name, outputSchema, execution } of tools) {
      if (outputSchema) this.#validators.set(name, this.#validator.getValidator(outputSchema));
      const support = execution?.taskSupport;
      if (support === 'required' || support === 'optional') this.#support.set(name, support);
    }
  }

  supportOf(tool: string): 'required' | 'optional' | undefined {
    return this.#support.get(tool);
  }

  /** @throws {McpError} The result does not fit the tool's output schema. */
  check(tool: string, { structuredContent, isError }: Result): void {
    const validate = this.#validators.get(tool);
    if (!validate) return;
    if (!structuredContent && !isError)
      throw new McpError(ErrorCode.InvalidRequest, `Tool ${tool} has an output schema but did not return structured content`);
    if (!structuredContent) return;
    const problem = problemOf(validate, structuredContent);
    if (problem !== undefined) throw new McpError(ErrorCode.InvalidParams, problem);
  }
}

function problemOf(validate: JsonSchemaValidator<unknown>, value: unknown): string | undefined {
  try {
    const { valid, errorMessage } = validate(value);
    return valid ? undefined : `Structured content does not match the tool's output schema: ${errorMessage}`;
  } catch (error) {
    return `Failed to validate structured content: ${error instanceof Error ? error.message : String(error)}`;
  }
}
