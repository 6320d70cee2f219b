/** What a program plugs in to check values against JSON Schema. */

/** A JSON Schema. */
export type JsonSchemaType = Record<string, unknown>;
export type JsonSchemaValidatorResult<T> =
  { valid: true; data: T; errorMessage: undefined } | { valid: false; data: undefined; errorMessage: string };
export type JsonSchemaValidator<T> = (input: unknown) => JsonSchemaValidatorResult<T>;
/** Makes a function that checks values against one schema. */
// The lower-case name is v1's.
export interface jsonSchemaValidator {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T>;
}
