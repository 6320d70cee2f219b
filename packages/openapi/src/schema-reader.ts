/** Makes JSON Schema of the schemas of a document. A `$ref` stays one, to `$defs`: a schema may hold itself, and is not repeated. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { type ApiDocument, DocumentFault, pointTo } from './document.ts';

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SINGLES = new Set([
  'items',
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
/** Keywords of OpenAPI alone, ids and anchors, and annotations. */
const LEFT_OUT =
  /^(?:x-.*|example|examples|xml|externalDocs|discriminator|nullable|readOnly|writeOnly|\$schema|\$id|\$anchor|\$dynamicRef|\$dynamicAnchor|\$comment)$/u;

/** How deep schemas may nest. Each level takes two of the 128 levels of JSON that clients read. */
const MAX_DEPTH = 50;

/** Reads the schemas of one tool. */
export class SchemaReader {
  readonly #document: ApiDocument;
  /** The names in `$defs`, by the references to them. */
  readonly #names = new Map<string, string>();
  readonly #defs = new Map<string, JsonValue>();
  /** What the references name, by the names in `$defs`. */
  readonly #named = new Map<string, { readonly schema: JsonValue; readonly pointer: string }>();

  constructor(document: ApiDocument) {
    this.#document = document;
  }

  /** What the schemas that were read refer to, for the member `$defs` of the tool's schema. @throws {DocumentFault} */
  get defs(): JsonObject {
    // Not where a reference is found: a long chain of them would fill the stack. Reading adds to the list.
    for (const [name, { schema, pointer }] of this.#named) if (!this.#defs.has(name)) this.#defs.set(name, this.read(schema, pointer));
    return Object.fromEntries(this.#defs);
  }

  /** Returns a schema for values that are sent to the API: without members that only come from it. @throws {DocumentFault} */
  read(schema: unknown, pointer: string, depth = 0): JsonValue {
    if (depth > MAX_DEPTH)
      throw new DocumentFault(pointer, 'nests too deeply, or holds itself: pass the document before its $refs are resolved');
    if (typeof schema === 'boolean') return schema;
    if (!isJsonObject(schema)) throw new DocumentFault(pointer, 'must be a schema');
    const { $ref: ref } = schema;
    const members = typeof ref === 'string' && this.#document.is30 ? {} : this.#readMembers(schema, pointer, depth);
    if (typeof ref === 'string') members['$ref'] = `#/$defs/${this.#define(ref, pointer)}`;
    return this.#document.is30 ? fromOpenApi30(schema, members) : members;
  }

  #readMembers(schema: JsonObject, pointer: string, depth: number): Record<string, JsonValue> {
    const members: Record<string, JsonValue> = {};
    for (const [key, value] of Object.entries(schema))
      if (value !== undefined && key !== '$ref' && !LEFT_OUT.test(key))
        members[key] = this.#readMember(key, value, pointTo(pointer, key), depth + 1);
    return withoutReadOnly(schema, members);
  }

  #readMember(key: string, value: JsonValue, pointer: string, depth: number): JsonValue {
    if (MAPS.has(key) && isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.read(each, pointTo(pointer, name), depth)]));
    if (LISTS.has(key) && Array.isArray(value)) return value.map((each, index) => this.read(each, pointTo(pointer, index), depth));
    return SINGLES.has(key) ? this.read(value, pointer, depth) : value;
  }

  /** Notes what a reference names for `$defs`, once. @returns Its name there. */
  #define(ref: string, pointer: string): string {
    const known = this.#names.get(ref);
    if (known !== undefined) return known;
    const clean = ref.replace(/^#\/components\/schemas\/(?=[^/]+$)/u, '').replaceAll(/[^\w.-]+/gu, '_');
    const name = this.#named.has(clean) ? `${clean}_${this.#names.size}` : clean;
    this.#names.set(ref, name);
    this.#named.set(name, { schema: this.#document.at(ref, pointer), pointer: ref });
    return name;
  }
}

/** @see OpenAPI 3.0.4 section 4.7.24.2: a member with `readOnly` should not be sent, and is then not required. */
function withoutReadOnly({ properties }: JsonObject, members: Record<string, JsonValue>): Record<string, JsonValue> {
  if (!isJsonObject(properties)) return members;
  const isSent = (name: string): boolean => {
    const property = properties[name];
    return !(isJsonObject(property) && property['readOnly'] === true);
  };
  const { properties: read, required } = members;
  if (isJsonObject(read)) members['properties'] = Object.fromEntries(Object.entries(read).filter(([name]) => isSent(name))) as JsonObject;
  if (Array.isArray(required)) members['required'] = required.filter((name) => typeof name === 'string' && isSent(name));
  return members;
}

/** Converts the keywords in which OpenAPI 3.0 differs from JSON Schema. */
function fromOpenApi30(schema: JsonObject, members: Record<string, JsonValue>): JsonValue {
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof members[exclusive] !== 'boolean') continue;
    const { [exclusive]: isExclusive, [bound]: value } = members;
    delete members[exclusive];
    if (!isExclusive || value === undefined) continue;
    delete members[bound];
    members[exclusive] = value;
  }
  if (members['format'] === 'binary' || members['format'] === 'byte') {
    delete members['format'];
    members['contentEncoding'] = 'base64';
  }
  if (schema['nullable'] !== true) return members;
  const { type, enum: values } = members;
  if (typeof type !== 'string') return { anyOf: [members, { type: 'null' }] };
  return { ...members, type: [type, 'null'], ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }) };
}
