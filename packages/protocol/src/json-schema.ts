/** `@mortise/protocol/json-schema`: the default validator of JSON Schemas, apart so that only who checks schemas carries it. */

export { checkSchema, createJsonSchemaValidator, type ValidatorOptions } from './json-schema/validator.ts';
export type { SchemaLimits } from './json-schema/bound-schema.ts';
