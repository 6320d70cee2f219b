import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SchemaUnsupportedError } from '../../src/errors.ts';
import { toFormAdapter } from '../../src/asks/forms.ts';
import { type SchemaPurpose, toSchemaAdapter } from '../../src/schema/to-schema-adapter.ts';

const tell = (schema: unknown, purpose: SchemaPurpose = 'tool input') =>
  (purpose === 'elicitation' ? toFormAdapter(schema, undefined) : toSchemaAdapter(schema, purpose, 'add')).jsonSchema;
const refusal = (schema: unknown, purpose: SchemaPurpose = 'tool input'): string => {
  try {
    tell(schema, purpose);
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaUnsupportedError);
    expect((error as SchemaUnsupportedError).code).toBe('ERR_SCHEMA_UNSUPPORTED');
    return (error as Error).message;
  }
  throw new Error('was not refused');
};

describe('the JSON Schema that clients see', () => {
  it('[TOOL-006] tells a raw shape as an object schema, with the fields that must be there', () => {
    expect(tell({ a: z.number(), b: z.string().optional(), c: z.string().default('x'), d: z.string().nullable() })).toEqual({
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'string' }, c: { type: 'string', default: 'x' }, d: { type: ['string', 'null'] } },
      required: ['a', 'd'],
    });
  });

  it('[TOOL-009] tells a shape without fields as an object that has none', () => {
    expect(tell({})).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });

  it('tells what the output schema gives, where a field with a default is always there', () => {
    expect(tell({ a: z.string().default('x'), b: z.string().optional() }, 'tool output')).toEqual({
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    });
  });

  it('tells each side of a conversion where it is wanted', () => {
    const schema = { n: z.string().transform(Number).pipe(z.number()) };
    expect(tell(schema)['properties']).toEqual({ n: { type: 'string' } });
    expect(tell(schema, 'tool output')['properties']).toEqual({ n: { type: 'number' } });
  });

  it('leaves out the dialect that is the default, and keeps another that an author wrote', () => {
    expect(tell(z.object({ a: z.string() }))).not.toHaveProperty('$schema');
    const written = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' };
    expect(tell(written)).toEqual(written);
  });

  it('keeps annotations that no vocabulary knows', () => {
    expect(tell({ region: z.string().meta({ 'x-mcp-header': 'Region' }) })['properties']).toEqual({
      region: { type: 'string', 'x-mcp-header': 'Region' },
    });
  });

  it('lets a tool output be any schema', () => {
    expect(tell(z.array(z.number()), 'tool output')).toEqual({ type: 'array', items: { type: 'number' } });
    expect(tell(z.unknown().describe('whatever it is'), 'tool output')).toEqual({ description: 'whatever it is' });
    for (const schema of [{ enum: ['a', 1] }, { $ref: '#/$defs/a', $defs: { a: { type: 'null' } } }, { not: { type: 'string' } }])
      expect(tell(schema, 'tool output')).toEqual(schema);
  });

  it('gives a root without a type the one that arguments have', () => {
    expect(tell({ properties: {} })).toEqual({ type: 'object', properties: {} });
    expect(tell(z.union([z.object({ a: z.string() }), z.string()]))).toMatchObject({ type: 'object' });
    const schema = z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b'), n: z.number() })]);
    expect(tell(schema)).toMatchObject({ type: 'object', oneOf: [{ type: 'object' }, { type: 'object' }] });
    expect(tell(z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })))).toMatchObject({ type: 'object' });
  });

  it('puts a root that is only a reference into its place', () => {
    const user = z.object({ name: z.string() }).meta({ id: 'S2User' });
    expect(tell(user)).toEqual({ type: 'object', properties: { name: { type: 'string' } }, required: ['name'] });
    const tree = z.object({
      get children() {
        return z.array(tree);
      },
    });
    const withId = tree.meta({ id: 'S2Tree' });
    expect(tell(z.object({ tree: withId }).meta({ id: 'S2Forest' }))).toMatchObject({
      type: 'object',
      properties: { tree: { $ref: '#/$defs/S2Tree' } },
      $defs: { S2Tree: { type: 'object' } },
    });
  });

  it('copies a plain JSON Schema, so that a later change by the author shows nowhere', () => {
    const written = { type: 'object', properties: { a: { type: 'string' } } };
    const told = tell(written);
    written.properties.a.type = 'number';
    expect(told).toEqual({ type: 'object', properties: { a: { type: 'string' } } });
  });

  it('takes an adapter that was made elsewhere as it is', () => {
    const adapter = { jsonSchema: { type: 'object' }, validate: (value: unknown) => ({ value }) };
    expect(toSchemaAdapter(adapter, 'tool input', 'add')).toBe(adapter);
  });

  it('tells the shapes of the seeds', () => {
    // The seeds are written for a zod whose `record` takes one argument; so does the one in the catalog.
    const record = z.record as unknown as (value: z.ZodType) => z.ZodType;
    expect(tell({ rows: z.array(record(z.any())), rowCount: z.number() }, 'tool output')).toMatchObject({
      properties: { rows: { type: 'array', items: { type: 'object', additionalProperties: {} } }, rowCount: { type: 'number' } },
      required: ['rows', 'rowCount'],
    });
  });
});

describe('what is refused, with the reason', () => {
  const cases = [
    [
      'a date',
      { when: z.date() },
      'tool "add": inputSchema field "when" cannot be converted to JSON Schema: Date cannot be represented in JSON Schema',
    ],
    ['a bigint', { n: z.bigint() }, 'field "n" cannot be converted to JSON Schema: BigInt cannot be represented'],
    ['a date deep inside', { a: z.object({ b: z.array(z.date()) }) }, 'field "a" cannot be converted to JSON Schema: Date'],
    ['a date in a whole object', z.object({ a: z.date() }), 'inputSchema cannot be converted to JSON Schema: Date'],
    ['a map', { m: z.map(z.string(), z.string()) }, 'Map cannot be represented'],
    ['a member that is no schema', { a: z.string(), b: 4 }, 'field "b" is not a schema'],
    ['a root that is no object', z.string(), 'must have "type": "object" at its root, got "string"'],
    ['null', null, 'must be an object of schemas, a Standard Schema or a JSON Schema, got null'],
    ['an array', [], 'got an array'],
    ['a number', 5, 'got number'],
    ['undefined', undefined, 'got undefined'],
  ] as const;

  it.each(cases)('refuses %s', (_title, schema, reason) => {
    expect(refusal(schema)).toContain(reason);
  });

  it('refuses a transform as a tool output, and says which field', () => {
    expect(refusal({ n: z.string().transform((text) => text.length) }, 'tool output')).toContain(
      'tool "add": outputSchema field "n" cannot be converted to JSON Schema: Transforms',
    );
  });

  it('[TOOL-008] refuses a null inputSchema and one that is not valid JSON Schema', () => {
    expect(refusal(null)).toContain('got null');
    expect(refusal({ type: 'object', properties: { a: null } })).toContain('"properties" at # must be an object of schemas');
  });

  it.each<SchemaPurpose>(['tool input', 'tool output', 'prompt arguments', 'elicitation'])(
    'refuses fields that are no schemas, instead of checking nothing (%s)',
    (purpose) => {
      for (const shape of [{ a: 'string' }, { a: String }, { a: { type: 'string' } }, { a: z.string }, { title: 'string' }])
        expect(refusal(shape, purpose)).toMatch(
          /Schema is neither a shape, whose fields are schemas, nor a JSON Schema, .* z\.string\(\) }$/,
        );
    },
  );

  it('refuses a JSON Schema that is not JSON', () => {
    const cyclic: Record<string, unknown> = { type: 'object' };
    cyclic['properties'] = { self: cyclic };
    expect(refusal(cyclic)).toContain('is not JSON');
    expect(refusal({ type: 'object', default: 1n })).toContain('is not JSON');
  });
});

describe('[SCHEMA-005][JSCH-003] only schemas that are valid under their dialect are told', () => {
  const cases = [
    ['an unknown type', { properties: { a: { type: 'numbr' } } }, '"type" at #/properties/a must be one of'],
    ['required with a duplicate', { required: ['a', 'a'] }, '"required" at # must be an array of different strings'],
    [
      'a negative length',
      { properties: { a: { type: 'string', minLength: -1 } } },
      '"minLength" at #/properties/a must be an integer, 0 or more',
    ],
    ['an enum that is no list', { properties: { a: { enum: 'x' } } }, '"enum" at #/properties/a must be an array'],
    ['an empty anyOf', { anyOf: [] }, '"anyOf" at # must be an array of at least one schema'],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }, '"pattern" at #/properties/a must be a regular expression'],
    ['a number as a schema', { properties: { a: 3 } }, '"properties" at # must be an object of schemas'],
    ['a fault below a combination', { allOf: [{ not: { items: { type: 7 } } }] }, '"type" at #/allOf/0/not/items must be one of'],
    [
      'a reference to nothing',
      { properties: { a: { $ref: '#/$defs/missing' } } },
      '"$ref" at #/properties/a leads to "#/$defs/missing", which is not in the schema',
    ],
    [
      'a reference to the network',
      { properties: { a: { $ref: 'https://example.com/s.json' } } },
      'References are not fetched: put the target under "$defs"',
    ],
  ] as const;

  it.each(cases)('[SCHEMA-005][JSCH-003] refuses %s', (_title, schema, reason) => {
    expect(refusal({ type: 'object', ...schema })).toContain(reason);
  });

  it('[SCHEMA-005] refuses an invalid schema that a library was made to tell', () => {
    expect(refusal({ a: z.string().meta({ type: 'text' } as never) })).toContain('"type" at #/properties/a');
  });

  it('does not mistake data for schemas', () => {
    const schema = {
      type: 'object',
      properties: { $ref: { type: 'string' }, type: { const: { type: 'anything', $ref: 'x' } } },
      default: { $ref: 'https://nowhere' },
    };
    expect(tell(schema)).toEqual(schema);
  });
});

describe('a form for elicitation', () => {
  it('tells flat fields and leaves out what forms do not have', () => {
    const schema = z.strictObject({
      name: z.string().min(1),
      mail: z.email(),
      age: z.int().min(0).optional(),
      kind: z.enum(['a', 'b']),
      all: z.array(z.enum(['x', 'y'])),
    });
    const told = tell(schema, 'elicitation');
    expect(Object.keys(told)).toEqual(['type', 'properties', 'required']);
    expect(told['required']).toEqual(['name', 'mail', 'kind', 'all']);
  });

  it.each([
    ['an object', { a: z.object({ b: z.string() }) }, 'field "a" is of type "object"'],
    ['a list of numbers', { a: z.array(z.number()) }, 'field "a" is an array'],
    ['alternatives', { a: z.union([z.string(), z.object({})]) }, 'field "a" is without one type'],
    ['a format that forms do not have', { a: z.uuid() }, 'field "a" has the format "uuid": a form allows only email, uri, date, date-time'],
  ])('refuses %s', (_title, schema, reason) => {
    expect(refusal(schema, 'elicitation')).toContain(`elicitation of "form": requestedSchema ${reason}`);
  });
});

describe('what a library answers to a check', () => {
  const answering = (answer: unknown): object => {
    const told = () => ({ type: 'object' });
    return { '~standard': { version: 1, vendor: 'x', validate: () => answer, jsonSchema: { input: told, output: told } } };
  };
  const check = async (answer: unknown) => toSchemaAdapter(answering(answer), 'tool input', 't').validate({});

  it('says that a value does not fit where the library says no more', async () => {
    expect(await check({ issues: [] })).toEqual({ issues: [{ message: 'does not fit its schema', path: [] }] });
  });

  it('waits for what has a then and is no promise', async () => {
    const thenable = (answer: object) => ({ then: (take: (value: object) => void) => take(answer) });
    expect(await check(thenable({ value: { a: 1 } }))).toEqual({ value: { a: 1 } });
    expect(await check(thenable({ issues: [{ message: 'is odd' }] }))).toEqual({ issues: [{ message: 'is odd', path: [] }] });
  });
});
