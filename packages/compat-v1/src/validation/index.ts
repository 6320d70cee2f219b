/** `/validation`: the types of validators of JSON Schema. */

export type { jsonSchemaValidator, JsonSchemaType, JsonSchemaValidator, JsonSchemaValidatorResult } from './types.ts';
