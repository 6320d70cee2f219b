/** An OpenAPI document: read from text, and looked up by `$ref`. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import { parse } from 'yaml';

/** A part of the document that the server does not offer, or only partly. */
export interface OpenApiProblem {
  /** Where it is in the document, such as `#/paths/~1users/get/parameters/0`. */
  readonly pointer: string;
  /** What the server does not offer, and why. */
  readonly message: string;
}

/** Thrown where a part of the document cannot be used; becomes a problem. */
export class DocumentFault extends Error {
  readonly pointer: string;

  constructor(pointer: string, message: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** A part of the document, and where it is. */
export interface Located {
  readonly value: JsonObject;
  readonly pointer: string;
}

/** How many `$ref` may lead to one another. */
const MAX_HOPS = 32;

export class ApiDocument {
  readonly root: JsonObject;
  /** Whether schemas are those of OpenAPI 3.0, and not JSON Schema. */
  readonly is30: boolean;

  /** @throws {TypeError} It is no OpenAPI 3 document. */
  constructor(source: string | object) {
    const root = typeof source === 'string' ? parseText(source) : source;
    const version = isJsonObject(root) ? root['openapi'] : undefined;
    if (!isJsonObject(root) || typeof version !== 'string' || !version.startsWith('3.'))
      throw new TypeError(`createOpenApiServer needs an OpenAPI document of version 3.x: ${describeVersion(root)}`);
    this.root = root;
    this.is30 = version.startsWith('3.0');
  }

  /**
   * Returns an object of the document, after following its `$ref`.
   *
   * @throws {DocumentFault} It is no object, or the reference leads out of the document, to nothing or in a circle.
   */
  resolve(value: unknown, pointer: string): Located {
    let here = { value, pointer };
    for (let hops = 0; hops < MAX_HOPS; hops += 1) {
      if (!isJsonObject(here.value)) throw new DocumentFault(here.pointer, 'must be an object');
      const { $ref: ref } = here.value;
      if (typeof ref !== 'string') return { value: here.value, pointer: here.pointer };
      here = { value: this.at(ref, here.pointer), pointer: ref };
    }
    throw new DocumentFault(pointer, 'this $ref leads in a circle');
  }

  /** Returns what a `$ref` names. @param from Where the reference is. @throws {DocumentFault} */
  at(ref: string, from: string): JsonValue {
    if (ref !== '#' && !ref.startsWith('#/'))
      throw new DocumentFault(from, `the $ref "${ref}" leads to another document: bundle them into one first`);
    let value: JsonValue | undefined = this.root;
    for (const step of ref.split('/').slice(1)) {
      const key = unescapeStep(step);
      value = typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
    }
    if (value === undefined) throw new DocumentFault(from, `the $ref "${ref}" leads to nothing`);
    return value;
  }
}

/** Returns the pointer to a member. */
export function pointTo(pointer: string, ...steps: readonly (string | number)[]): string {
  return [pointer, ...steps.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');
}

function unescapeStep(step: string): string {
  let text = step;
  try {
    text = decodeURIComponent(step);
  } catch {
    // A lone % stands for itself.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}

function parseText(source: string): unknown {
  const text = source.replace(/^\uFEFF/u, '');
  try {
    // Reading JSON as YAML takes fifty times as long.
    return text.trimStart().startsWith('{') ? JSON.parse(text) : parse(text);
  } catch (error) {
    throw new TypeError(`the OpenAPI document is neither JSON nor YAML: ${(error as Error).message}`, { cause: error });
  }
}

function describeVersion(root: unknown): string {
  if (!isJsonObject(root)) return 'the document is not an object';
  if (root['swagger'] !== undefined) return 'this is Swagger 2, which converters such as swagger2openapi turn into OpenAPI 3';
  return 'its member "openapi" is missing or not 3.x';
}
