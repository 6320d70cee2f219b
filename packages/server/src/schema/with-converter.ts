/** Gives schemas that cannot tell themselves as JSON Schema a converter that can. */

import { isStandardSchema, type StandardProps } from './standard-schema.ts';

/** Tells a schema of one library as JSON Schema, or throws with the reason. */
export type Converter = (schema: object, direction: 'input' | 'output') => object;

/** A schema, or a shape whose every field is one, that tells itself by `convert`. The original stays as it is. */
export function withConverter<T>(schema: object, convert: Converter, toProps: (schema: object) => StandardProps = propsOf): T {
  const heir = (each: object): object => {
    const props = toProps(each);
    const jsonSchema = {
      input: () => convert(each, 'input') as Record<string, unknown>,
      output: () => convert(each, 'output') as Record<string, unknown>,
    };
    return Object.create(each, { '~standard': { value: { ...props, jsonSchema }, enumerable: true } }) as object;
  };
  const isSchema = isStandardSchema(schema) || '_def' in schema;
  const told = isSchema ? heir(schema) : Object.fromEntries(Object.entries(schema).map(([name, field]) => [name, heir(field as object)]));
  return told as T;
}

function propsOf(schema: object): StandardProps {
  if (isStandardSchema(schema)) return schema['~standard'];
  throw new TypeError('Not a schema: hand over a schema of the library, or an object whose every field is one');
}
