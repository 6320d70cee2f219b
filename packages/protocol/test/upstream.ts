/** The specification's own schemas and examples, as data beside the repository. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';

const root: string = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../../shared/spec/upstream');

/** False where the folder is not there; tests that need it are skipped, with a notice. */
export const hasUpstream: boolean = existsSync(root);
if (!hasUpstream) console.warn(`skipped: no upstream schemas at ${root}`);

export interface UpstreamSchema {
  readonly draft: '7' | '2020-12';
  readonly key: 'definitions' | '$defs';
  readonly definitions: Readonly<Record<string, JsonObject>>;
}

/** The schema of a revision. */
export function readSchema(version: string): UpstreamSchema {
  const schema = JSON.parse(readFileSync(path.join(root, version, 'schema.json'), 'utf8')) as Record<string, JsonValue>;
  const key = '$defs' in schema ? '$defs' : 'definitions';
  const definitions = schema[key] as Readonly<Record<string, JsonObject>>;
  return {
    draft: key === '$defs' ? '2020-12' : '7',
    key,
    definitions: version === '2025-11-25' ? withExtensions(definitions) : definitions,
  };
}

/** Adds `extensions` to the capabilities of 2025-11-25. The revision came before extensions, whose own texts declare them there too. */
function withExtensions(definitions: Readonly<Record<string, JsonObject>>): Readonly<Record<string, JsonObject>> {
  const extend = (type: string): JsonObject => ({
    ...definitions[type],
    properties: { ...(definitions[type]?.['properties'] as JsonObject), extensions: { type: 'object' } },
  });
  return { ...definitions, ClientCapabilities: extend('ClientCapabilities'), ServerCapabilities: extend('ServerCapabilities') };
}

/** The examples of the newest revision, by the type's name. */
export function readExamples(version: string): readonly { readonly type: string; readonly file: string; readonly value: JsonValue }[] {
  const folder = path.join(root, version, 'examples');
  return readdirSync(folder).flatMap((type) =>
    readdirSync(path.join(folder, type)).map((file) => ({
      type,
      file,
      value: JSON.parse(readFileSync(path.join(folder, type, file), 'utf8')) as JsonValue,
    })),
  );
}
