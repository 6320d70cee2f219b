/**
 * The default validator of JSON Schemas. One line and a file of its own all the same: reached through a file of this package, it leaves all of ours
 * that starts in one file when a program is bundled. See docs/decisions/build.md.
 */

export { createJsonSchemaValidator } from '@mortise/protocol/json-schema';
