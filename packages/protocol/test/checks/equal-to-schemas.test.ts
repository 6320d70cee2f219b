/** The hand-written checks and the zod schemas accept the same values. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { isJsonObject } from '@mortise/jsonrpc-core/messages';
import {
  checkClientNotification,
  checkClientParams,
  checkClientResult,
  checkListItem,
  checkServerNotification,
  checkServerParams,
  checkServerResult,
} from '@mortise/protocol/checks';
import { readRequestMeta } from '@mortise/protocol/wire';
import {
  CLIENT_RESULT_SCHEMAS,
  InputRequiredResultSchema,
  ModernRequestMetaSchema,
  NOTIFICATION_SCHEMAS,
  PARAMS_SCHEMAS,
  PromptSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  SERVER_RESULT_SCHEMAS,
  ToolSchema,
} from '@mortise/protocol/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import {
  clientCapabilities,
  clientResults,
  damaged,
  implementation,
  notifications,
  params,
  prompt,
  resource,
  resourceTemplate,
  serverResults,
  shape,
  tool,
} from '../arbitraries.ts';

type Check = (value: JsonValue) => string | undefined;

/** Good values, values with one wrong part, and anything at all. */
function tried(good: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonValue> {
  const bad = fc.oneof(
    fc.constantFrom<JsonValue | undefined>(undefined, null, 5, 1.5, -1, '', 'x', true, [], {}, [{}], { a: 1 }),
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<JsonValue>,
  );
  const path = fc.array(fc.nat(20), { minLength: 1, maxLength: 5 });
  return fc.oneof(
    good,
    fc.tuple(good, path, bad).map(([value, at, by]) => JSON.parse(JSON.stringify(damaged(value, at, by))) as JsonValue),
    fc.jsonValue() as fc.Arbitrary<JsonValue>,
  );
}

function expectEqual(check: Check, schema: z.ZodType, values: fc.Arbitrary<JsonValue>): void {
  fc.assert(
    fc.property(tried(values), (value) => {
      const reason = check(value);
      const { error } = schema.safeParse(value);
      expect({ value, isGood: reason === undefined, reason }).toEqual({ value, isGood: error === undefined, reason });
    }),
    { numRuns: 300 },
  );
}

function schemaOf(table: object, method: string): z.ZodType {
  return (table as Readonly<Record<string, z.ZodType>>)[method] as z.ZodType;
}

const lists = new Set(['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list', 'tasks/list']);
const serverMethods = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

describe('the checks and the schemas', () => {
  it.each(Object.keys(params).filter((method) => !serverMethods.has(method)))('agree on params of %s from a client', (method) => {
    expectEqual((value) => checkClientParams(method, value), schemaOf(PARAMS_SCHEMAS, method), params[method] as fc.Arbitrary<JsonValue>);
  });

  it.each([...serverMethods])('agree on params of %s from a server', (method) => {
    expectEqual((value) => checkServerParams(method, value), schemaOf(PARAMS_SCHEMAS, method), params[method] as fc.Arbitrary<JsonValue>);
  });

  it.each(Object.keys(notifications))('agree on %s', (method) => {
    const schema = schemaOf(NOTIFICATION_SCHEMAS, method);
    const isClients = ['initialized', 'cancelled', 'progress', 'roots/list_changed', 'tasks/status'].some((end) => method.endsWith(end));
    expectEqual(
      (value) => (isClients ? checkClientNotification : checkServerNotification)(method, value),
      schema,
      notifications[method] as fc.Arbitrary<JsonValue>,
    );
  });

  it.each(Object.keys(serverResults).filter((method) => !lists.has(method)))('agree on results of %s', (method) => {
    expectEqual(
      (value) => checkServerResult(method, value),
      schemaOf(SERVER_RESULT_SCHEMAS, method),
      serverResults[method] as fc.Arbitrary<JsonValue>,
    );
  });

  it.each([...lists])('agree on good results of %s, whose items are checked apart', (method) => {
    const schema = schemaOf(SERVER_RESULT_SCHEMAS, method);
    fc.assert(
      fc.property(tried(serverResults[method] as fc.Arbitrary<JsonValue>), (value) => {
        if (schema.safeParse(value).success) expect(checkServerResult(method, value)).toBeUndefined();
        else
          expect(
            [checkServerResult(method, value), ...itemsOf(value).map((item) => checkListItem(method, item))].some(
              (reason) => reason !== undefined,
            ),
          ).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['tools/list', tool, ToolSchema],
    ['resources/list', resource, ResourceSchema],
    ['resources/templates/list', resourceTemplate, ResourceTemplateSchema],
    ['prompts/list', prompt, PromptSchema],
  ] as const)('agree on items of %s', (method, values, schema) => {
    expectEqual((value) => checkListItem(method, value), schema, values);
  });

  it.each(Object.keys(clientResults))('agree on answers to %s', (method) => {
    expectEqual(
      (value) => checkClientResult(method, value),
      schemaOf(CLIENT_RESULT_SCHEMAS, method),
      clientResults[method] as fc.Arbitrary<JsonValue>,
    );
  });

  it('agree on input_required results', () => {
    const ask = fc.oneof(
      ...[...serverMethods].map((method) => shape({ method: fc.constant(method), params: params[method] as fc.Arbitrary<JsonValue> })),
    );
    const values = shape(
      { resultType: fc.constant('input_required') },
      { inputRequests: fc.dictionary(fc.constantFrom('a', 'b'), ask), requestState: fc.string() },
    );
    expectEqual(checkAsking, InputRequiredResultSchema, values);
  });

  it('agree on the _meta of modern requests', () => {
    const values = shape(
      { 'io.modelcontextprotocol/protocolVersion': fc.string(), 'io.modelcontextprotocol/clientCapabilities': clientCapabilities },
      {
        'io.modelcontextprotocol/clientInfo': implementation,
        'io.modelcontextprotocol/logLevel': fc.constantFrom('debug', 'emergency'),
        progressToken: fc.oneof(fc.string(), fc.integer()),
      },
    );
    expectEqual(
      (value) => {
        const facts = readRequestMeta({ _meta: value });
        return typeof facts === 'string' ? facts : undefined;
      },
      ModernRequestMetaSchema,
      values,
    );
  });
});

/** An `input_required` result as the client takes it apart: the checks of its parts. */
function checkAsking(value: JsonValue): string | undefined {
  const reason = checkServerResult('ping', value);
  if (reason !== undefined) return reason;
  const { resultType, inputRequests, requestState } = value as JsonObject;
  if (resultType !== 'input_required' || !['string', 'undefined'].includes(typeof requestState)) return 'is not well formed';
  if (inputRequests === undefined) return requestState === undefined ? 'asks nothing' : undefined;
  if (!isJsonObject(inputRequests)) return 'must have an object of questions';
  return Object.values(inputRequests)
    .map((question: JsonValue | undefined) => {
      if (!isJsonObject(question) || !serverMethods.has(String(question['method']))) return 'is not a question';
      if (question['params'] !== undefined && !isJsonObject(question['params'])) return 'has no params';
      return checkServerParams(String(question['method']), question['params']);
    })
    .find((each) => each !== undefined);
}

function itemsOf(value: JsonValue): readonly JsonValue[] {
  const list = Object.values((value ?? {}) as Readonly<Record<string, JsonValue>>).find((member) => Array.isArray(member));
  return (list ?? []) as readonly JsonValue[];
}
