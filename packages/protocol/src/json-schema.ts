/** `@mortise/protocol/json-schema`: the default validator of JSON Schemas, apart so that only who checks schemas carries it. */

export { createJsonSchemaValidator, type ValidatorOptions } from './json-schema/validator.ts';
