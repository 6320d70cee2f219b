/**
 * `@mortise/server/zod`: schemas of a zod that has no `~standard.jsonSchema` (4.0, 4.1, `zod/v4` of 3.25, `zod/mini`). Handed the
 * caller's own `z`, imports none. zod 4.2 and later need nothing of this.
 */

import type { TypedSchema } from './schema/infer.ts';
import { withConverter } from './schema/standard-schema.ts';

/** The part of zod that is used. */
export interface ZodLibrary {
  // The library's own parameter types differ from version to version; what is handed in is a schema of that same library.
  readonly toJSONSchema: (schema: never, params: { readonly target: 'draft-2020-12'; readonly io: 'input' | 'output' }) => object;
}

/**
 * Gives a function that lets this zod's schemas and shapes be converted to JSON Schema; their types stay.
 *
 * ```ts
 * import { z } from 'zod'; // 4.0 or 4.1
 * const schema = fromZod(z);
 * server.registerTool('add', { inputSchema: schema({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b));
 * ```
 *
 * @param z The namespace that the schemas are made with.
 */
export function fromZod(z: ZodLibrary): <S extends TypedSchema | Readonly<Record<string, TypedSchema>>>(schema: S) => S {
  const convert = (schema: object, io: 'input' | 'output'): object => z.toJSONSchema(schema as never, { target: 'draft-2020-12', io });
  return (schema) => withConverter(schema, convert);
}
