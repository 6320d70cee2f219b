/** The validator behind both of v1's: ours, which runs without `eval`. */

import type { JsonValue } from '@mortise/jsonrpc-core';
import type { SchemaIssue } from '@mortise/protocol/contracts';
import { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
import type { jsonSchemaValidator, JsonSchemaType, JsonSchemaValidator } from './types.ts';

export class OwnJsonSchemaValidator implements jsonSchemaValidator {
  readonly #validator = createJsonSchemaValidator({ from: 'peer' });

  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const check = this.#validator.compile(schema as JsonValue);
    return (input) => {
      const issues = check(input);
      if (issues.length === 0) return { valid: true, data: input as T, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: issues.map(describe).join(', ') };
    };
  }
}

/** Names the place as Ajv does, which v1's texts come from. */
function describe({ path, message }: SchemaIssue): string {
  return `data${path.map((part) => `/${String(part)}`).join('')} ${message}`;
}
