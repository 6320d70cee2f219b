/** The composed revisions beside the specification's own schemas. */

import { type Schema, Validator } from '@cfworker/json-schema';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { type Revision, REVISIONS } from '@mortise/protocol';
import * as schemas from '@mortise/protocol/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { clientResults, notifications, params, representableParams, serverResults } from '../arbitraries.ts';
import { hasUpstream, readExamples, readSchema, type UpstreamSchema } from '../upstream.ts';

const RESULT_TYPES: Readonly<Record<string, string>> = {
  initialize: 'InitializeResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'elicitation/create': 'ElicitResult',
  'sampling/createMessage': 'CreateMessageResult',
  'roots/list': 'ListRootsResult',
  'tasks/list': 'ListTasksResult',
};

/** The methods of a union of messages, with the names of their types. */
function methodsOf({ definitions }: UpstreamSchema, union: string): ReadonlyMap<string, string> {
  const definition = definitions[union];
  if (definition === undefined) return new Map();
  const refs = (definition['anyOf'] as readonly JsonObject[] | undefined)?.map(
    (member) => String(member['$ref']).split('/').at(-1) ?? '',
  ) ?? [union];
  return new Map(
    refs.map((name) => [((definitions[name]?.['properties'] as JsonObject)['method'] as JsonObject)['const'] as string, name]),
  );
}

function sent(methods: Revision['requests'], ...directions: readonly string[]): readonly string[] {
  return [...methods].filter(([, { direction }]) => directions.includes(direction)).map(([method]) => method);
}

/** A revision's schema, with every object that names its members closed to others, so that what is left over is seen. */
function closedValidator({ draft, key, definitions }: UpstreamSchema, type: string): Validator {
  const close = (schema: JsonValue, at = ''): JsonValue => {
    if (Array.isArray(schema)) return schema.map((item: JsonValue) => close(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const closed = Object.fromEntries(Object.entries(schema as JsonObject).map(([name, value]) => [name, close(value ?? null, name)]));
    const isObject = closed['type'] === 'object' && closed['properties'] !== undefined && closed['additionalProperties'] === undefined;
    // The older schemas leave `_meta` out of params, though every one has it.
    const properties = at === 'params' && isObject ? { _meta: {}, ...(closed['properties'] as JsonObject) } : closed['properties'];
    return isObject ? { ...closed, properties, additionalProperties: false } : closed;
  };
  // `_meta` is open by its nature, schemas in a tool are open by the newest text, and a capability's own settings are too.
  // Types that others are put together from by allOf cannot be closed by themselves.
  const open = new Set([
    'NotificationParams',
    'Result',
    'Task',
    'MetaObject',
    'RequestMetaObject',
    'NotificationMetaObject',
    'ResultMetaObject',
    'JSONObject',
  ]);
  const all = Object.fromEntries(
    Object.entries(definitions).map(([name, schema]) => [name, open.has(name) ? schema : openMeta(close(schema) as JsonObject)]),
  );
  return new Validator({ $ref: `#/${key}/${type}`, [key]: all } as Schema, draft, false);
}

/** Opens what is a bag of anything in the type behind the schema. */
function openMeta(schema: JsonObject): JsonObject {
  return JSON.parse(
    JSON.stringify(schema, (name, value: unknown) =>
      ['_meta', 'inputSchema', 'outputSchema', 'experimental', 'extensions', 'metadata'].includes(name) &&
      typeof value === 'object' &&
      value !== null
        ? { ...value, additionalProperties: true }
        : value,
    ),
  ) as JsonObject;
}

function expectValid(validator: Validator, value: JsonValue): void {
  const { valid, errors } = validator.validate(value);
  expect(valid ? [] : [JSON.stringify(value), ...errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)]).toEqual([]);
}

describe.skipIf(!hasUpstream)('the revisions and the published schemas', () => {
  // A skipped body runs all the same, to find its cases: without the schemas there are none.
  if (!hasUpstream) {
    it.skip('are held equal where ../shared/spec/upstream is there');
    return;
  }
  describe.each(REVISIONS.map((revision) => ({ revision, version: revision.version })))('$version', ({ revision, version }) => {
    const upstream = readSchema(version);

    it('has exactly the published requests, by direction', () => {
      expect(new Set(sent(revision.requests, 'client-to-server', 'both'))).toEqual(new Set(methodsOf(upstream, 'ClientRequest').keys()));
      expect(new Set(sent(revision.requests, 'server-to-client', 'both'))).toEqual(new Set(methodsOf(upstream, 'ServerRequest').keys()));
      expect(new Set(sent(revision.requests, 'embedded'))).toEqual(new Set(methodsOf(upstream, 'InputRequest').keys()));
    });

    it('has exactly the published notifications, by direction', () => {
      expect(new Set(sent(revision.notifications, 'client-to-server', 'both'))).toEqual(
        new Set(methodsOf(upstream, 'ClientNotification').keys()),
      );
      expect(new Set(sent(revision.notifications, 'server-to-client', 'both'))).toEqual(
        new Set(methodsOf(upstream, 'ServerNotification').keys()),
      );
    });

    it.each(['ClientCapabilities', 'ServerCapabilities'] as const)('has exactly the published keys of %s', (type) => {
      const names = (schema: JsonObject, prefix: string): readonly string[] =>
        Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>).flatMap(([key, value]) => [
          prefix + key,
          ...names(value, `${prefix}${key}.`),
        ]);
      const own = type === 'ClientCapabilities' ? revision.clientCapabilities : revision.serverCapabilities;
      expect([...own].toSorted()).toEqual(names(upstream.definitions[type] ?? {}, '').toSorted());
    });

    it.each(sent(revision.requests, 'client-to-server', 'both', 'server-to-client', 'embedded'))(
      'writes params of %s that the published schema accepts',
      (method) => {
        const type =
          [...methodsOf(upstream, 'ClientRequest'), ...methodsOf(upstream, 'ServerRequest'), ...methodsOf(upstream, 'InputRequest')].find(
            ([name]) => name === method,
          )?.[1] ?? '';
        const validator = closedValidator(upstream, type);
        const isEnveloped = 'jsonrpc' in (upstream.definitions[type]?.['properties'] as JsonObject);
        const isNewest = revision.rules.samplingArrays;
        const values = (isNewest ? params[method] : (representableParams[method] ?? params[method])) as fc.Arbitrary<JsonObject>;
        const convert = revision.toWire.params.get(method);
        fc.assert(
          fc.property(values, (value) => {
            const wire = convert === undefined ? value : convert(value);
            expectValid(validator, isEnveloped ? { jsonrpc: '2.0', id: 1, method, params: wire } : { method, params: wire });
          }),
          { numRuns: 60 },
        );
      },
    );

    it.each([...revision.requests.keys()].filter((method) => method in RESULT_TYPES))(
      'writes results of %s that the published schema accepts',
      (method) => {
        const validator = closedValidator(upstream, RESULT_TYPES[method] ?? '');
        const values = (serverResults[method] ?? clientResults[method]) as fc.Arbitrary<JsonObject>;
        const convert = revision.toWire.results.get(method);
        fc.assert(
          fc.property(values, (value) => expectValid(validator, convert === undefined ? value : convert(value))),
          { numRuns: 60 },
        );
      },
    );

    it.each([...revision.notifications.keys()])('writes %s as the published schema has it', (method) => {
      const type =
        [...methodsOf(upstream, 'ClientNotification'), ...methodsOf(upstream, 'ServerNotification')].find(
          ([name]) => name === method,
        )?.[1] ?? '';
      const validator = closedValidator(upstream, type);
      const isEnveloped = 'jsonrpc' in (upstream.definitions[type]?.['properties'] as JsonObject);
      const convert = revision.toWire.notifications.get(method);
      fc.assert(
        fc.property(notifications[method] as fc.Arbitrary<JsonObject>, (value) => {
          const wire = convert === undefined ? value : convert(value);
          expectValid(validator, isEnveloped ? { jsonrpc: '2.0', method, params: wire } : { method, params: wire });
        }),
        { numRuns: 60 },
      );
    });
  });

  describe('the published examples', () => {
    const [newest] = REVISIONS;
    const examples = readExamples(newest?.version ?? '');
    const upstream = readSchema(newest?.version ?? '');
    const params = { ...schemas.PARAMS_SCHEMAS, ...schemas.NOTIFICATION_SCHEMAS } as Readonly<Record<string, z.ZodType>>;
    const results = { ...schemas.CLIENT_RESULT_SCHEMAS, ...schemas.SERVER_RESULT_SCHEMAS } as Readonly<Record<string, z.ZodType>>;
    const methods = ['ClientRequest', 'ServerRequest', 'InputRequest', 'ClientNotification', 'ServerNotification'].flatMap((union) => [
      ...methodsOf(upstream, union),
    ]);

    /** The schema of a published type: of its own, of the method whose params or result it is, or of what it is a part of. */
    function schemaOf(type: string): z.ZodType | undefined {
      const own = (schemas as unknown as Readonly<Record<string, z.ZodType>>)[`${type}Schema`];
      const result = Object.keys(RESULT_TYPES).find((method) => RESULT_TYPES[method] === type);
      const sentIn = methods.find(([, name]) => `${name}Params` === type)?.[0];
      return own ?? PARTS[type] ?? results[result ?? ''] ?? params[sentIn ?? ''];
    }

    it.each(examples)('accepts $type/$file', ({ type, value }) => {
      const schema = schemaOf(type);
      const { method, params: sentParams, result } = value as Readonly<Record<string, JsonValue | undefined>>;
      const resultType = type.endsWith('Response') ? schemaOf(type.replace(/Response$/, '')) : undefined;
      const check =
        schema?.safeParse(value) ??
        resultType?.safeParse(result) ??
        (typeof method === 'string' ? params[method]?.safeParse(sentParams ?? {}) : undefined);
      if (check === undefined) {
        expect(KNOWN_WITHOUT_SCHEMA).toContain(type);
        return;
      }
      expect(check.error?.issues ?? []).toEqual([]);
    });
  });
});

/** Types that are checked as part of another. */
const PARTS: Readonly<Record<string, z.ZodType>> = {
  ...Object.fromEntries(
    ['TextContent', 'ImageContent', 'AudioContent', 'ResourceLink', 'EmbeddedResource'].map((type) => [type, schemas.ContentBlockSchema]),
  ),
  ...Object.fromEntries(
    ['ToolUseContent', 'ToolResultContent'].map((type) => [
      type,
      z.preprocess((content) => ({ role: 'user', content }), schemas.SamplingMessageSchema),
    ]),
  ),
  TextResourceContents: schemas.ResourceContentsSchema,
  BlobResourceContents: schemas.ResourceContentsSchema,
  ElicitRequestFormParams: schemas.PARAMS_SCHEMAS['elicitation/create'],
  ElicitRequestURLParams: schemas.PARAMS_SCHEMAS['elicitation/create'],
  PaginatedRequestParams: schemas.PARAMS_SCHEMAS['tools/list'],
};

/** Parts of other shapes, and errors, which have no schema of their own. */
const KNOWN_WITHOUT_SCHEMA: readonly string[] = [
  'BooleanSchema',
  'HeaderMismatchError',
  'InputRequests',
  'InputResponses',
  'InternalError',
  'InvalidParamsError',
  'MethodNotFoundError',
  'MissingRequiredClientCapabilityError',
  'ModelPreferences',
  'NumberSchema',
  'ParseError',
  'StringSchema',
  'SubscriptionsListenResult',
  'SubscriptionsListenResultResponse',
  'TitledMultiSelectEnumSchema',
  'TitledSingleSelectEnumSchema',
  'UnsupportedProtocolVersionError',
  'UntitledMultiSelectEnumSchema',
  'UntitledSingleSelectEnumSchema',
];
