/** The default validator of JSON Schemas, in a file that loads with the first value to check. */

export { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
