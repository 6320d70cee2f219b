/** `/validation/ajv`: checks values with an Ajv that the program brings, or with our own validator. */

import { OwnJsonSchemaValidator } from './own-validator.ts';
import type { jsonSchemaValidator, JsonSchemaType, JsonSchemaValidator } from './types.ts';

/** The members of an Ajv instance that are used. */
export interface AjvLike {
  compile(schema: never): AjvCheck;
  getSchema(id: string): AjvCheck | undefined;
  errorsText(errors?: never): string;
}
interface AjvCheck {
  (input: unknown): unknown;
  errors?: unknown;
}

/** Does NOT need Ajv: without an instance, values are checked by our own validator, which has no `eval`. */
export class AjvJsonSchemaValidator implements jsonSchemaValidator {
  readonly #ajv: AjvLike | undefined;
  readonly #own = new OwnJsonSchemaValidator();

  /** @param ajv An instance with the program's own settings. @default our own validator */
  constructor(ajv?: AjvLike) {
    this.#ajv = ajv;
  }

  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const ajv = this.#ajv;
    if (!ajv) return this.#own.getValidator(schema);
    const { $id } = schema;
    const check = (typeof $id === 'string' ? ajv.getSchema($id) : undefined) ?? ajv.compile(schema as never);
    return (input) => {
      if (check(input) === true) return { valid: true, data: input as T, errorMessage: undefined };
      return { valid: false, data: undefined, errorMessage: ajv.errorsText(check.errors as never) };
    };
  }
}
