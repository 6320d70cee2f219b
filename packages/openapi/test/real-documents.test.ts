/** Documents of real APIs: every operation is a tool or a named problem, and every call reaches its operation. */

import type { McpClient } from '@mortise/client';
import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import type { Tool } from '@mortise/protocol/model';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openServer, type Seen, serveApi, type StubApi } from './stub-api.ts';

/** Reads a file of a package, whether the package exports it or not. */
const readModule = (file: string): string => readFileSync(new URL(`../node_modules/${file}`, import.meta.url), 'utf8');
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

interface RealDocument {
  readonly name: string;
  readonly text: string;
  /** Places that are no tool, or not wholly one. */
  readonly problems: readonly string[];
  readonly operations: number;
}

const documents: readonly RealDocument[] = [
  {
    name: 'Directus (3.0, JSON, 136 operations)',
    text: readModule('@directus/specs/dist/openapi.json'),
    problems: ['#/paths/~1items~1{collection}/post/requestBody/content/application~1json/schema must be a schema'],
    operations: 136,
  },
  {
    name: 'Dialogporten (3.0, JSON with a byte order mark, 44 operations)',
    text: readModule('@digdir/dialogporten-schema/swagger.verified.json'),
    problems: [],
    operations: 44,
  },
  {
    name: 'Blockfrost (3.0, YAML, 129 operations)',
    text: readModule('@blockfrost/openapi/openapi.yaml'),
    problems: [
      '#/paths/~1tx~1submit/post/requestBody/content a body of application/cbor is not supported',
      '#/paths/~1utils~1txs~1evaluate/post/requestBody/content a body of application/cbor is not supported',
      ...['add', 'gateway~1{IPFS_path}', 'pin~1add~1{IPFS_path}', 'pin~1list', 'pin~1list~1{IPFS_path}', 'pin~1remove~1{IPFS_path}'].map(
        (path) =>
          `#/paths/~1ipfs~1${path}/servers this operation is served at https://ipfs.blockfrost.io/api/v0: create a second server with that baseUrl`,
      ),
    ],
    operations: 129,
  },
  {
    name: 'Scalar Galaxy (3.1, JSON, 10 operations)',
    text: readModule('@scalar/galaxy/dist/3.1.json'),
    problems: [],
    operations: 10,
  },
];

function pathsOf(text: string): Record<string, object> {
  const json = text.replace(/^\uFEFF/u, '');
  return ((json.startsWith('{') ? JSON.parse(json) : parse(json)) as { readonly paths: Record<string, object> }).paths;
}

/** Serves the API of a document: answers with the operation that a request is for. */
async function serveDocument(paths: Record<string, object>): Promise<StubApi> {
  // Paths without variables come first, as OpenAPI wants it.
  const routes = Object.keys(paths)
    .sort((one, other) => one.split('{').length - other.split('{').length)
    .map((path) => ({ path, pattern: new RegExp(`^/v1${path.replaceAll(/[.$()+]/gu, '\\$&').replaceAll(/\{[^}]+\}/gu, '[^/]+')}$`, 'u') }));
  return serveApi(({ method, url }: Seen, response) => {
    const [path = ''] = url.split('?');
    const route = routes.find(({ path: each, pattern }) => pattern.test(path) && Object.hasOwn(paths[each] ?? {}, method.toLowerCase()));
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ operation: `${method} ${route?.path ?? 'none'}` }));
  });
}

/** Makes a value that a schema allows. */
function sample(schema: JsonValue | undefined, defs: JsonObject): JsonValue {
  if (typeof schema !== 'object' || schema === null) return 'x';
  const { $ref: ref, type, enum: values, allOf, anyOf, oneOf, format, properties = {}, required = [], minimum = 1 } = schema as JsonObject;
  if (typeof ref === 'string') return sample(defs[ref.slice('#/$defs/'.length)], defs);
  if (Array.isArray(values)) return values[0] as JsonValue;
  const among = (anyOf ?? oneOf) as JsonValue[] | undefined;
  if (among) return sample(among[0], defs);
  if (Array.isArray(allOf)) {
    const parts = allOf.map((each: JsonValue) => sample(each, defs));
    return parts.length === 1 ? (parts[0] as JsonValue) : (Object.assign({}, ...parts) as JsonObject);
  }
  switch (Array.isArray(type) ? type[0] : type) {
    case 'integer':
    case 'number':
      return minimum;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case 'object':
      return Object.fromEntries(
        Object.entries(properties as JsonObject).flatMap(([name, property]) =>
          (required as string[]).includes(name) || (property as JsonObject)['enum'] ? [[name, sample(property, defs)]] : [],
        ),
      );
    default:
      return format === 'uuid' ? '00000000-0000-4000-8000-000000000000' : format === 'date-time' ? '2026-01-01T00:00:00Z' : 'x';
  }
}

async function callAll(client: McpClient, tools: readonly Tool[]): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const { name, inputSchema } of tools) {
    const { structuredContent, content } = await client.callTool(
      name,
      sample(inputSchema as JsonObject, inputSchema.$defs as JsonObject) as JsonObject,
    );
    answers[name] = (structuredContent as JsonObject | undefined)?.['operation'] ?? content;
  }
  return answers;
}

describe.each(documents)('$name', ({ text, problems: expected, operations }) => {
  it('becomes tools whose calls reach their operations', async () => {
    const paths = pathsOf(text);
    const { baseUrl } = await serveDocument(paths);
    const { client, problems } = await openServer(text, {
      baseUrl,
      tools: (tool) => ({ ...tool, title: `${tool.method.toUpperCase()} ${tool.path}` }),
    });
    expect(problems.map(({ pointer, message }) => `${pointer} ${message}`)).toEqual(expected);
    const tools: Tool[] = [];
    for await (const tool of client.tools()) tools.push(tool);
    for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/u);
    const all = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).flatMap((method) => (METHODS.includes(method) ? [`${method.toUpperCase()} ${path}`] : [])),
    );
    expect(all).toHaveLength(operations);
    expect(tools).toHaveLength(operations - expected.length);
    expect(await callAll(client, tools)).toEqual(Object.fromEntries(tools.map(({ name, title }) => [name, title])));
  });
});

it('sends the requests that a real API documents: JSON in the query, lists in one, patches and headers', async () => {
  const [directus, dialogporten, blockfrost] = documents.map(({ text }) => text);
  const { baseUrl, seen } = await serveApi();
  const headers = { project_id: 'key' };
  const { client: one } = await openServer(directus ?? '', { baseUrl });
  await one.callTool('getActivities', { fields: ['id', 'user.name'], filter: { action: { _eq: 'login' } }, limit: -1 });
  const { client: two } = await openServer(dialogporten ?? '', { baseUrl });
  const dialogId = '00000000-0000-4000-8000-000000000000';
  const body = [{ op: 'replace', path: '/progress', value: 42 }];
  await two.callTool('V1ServiceOwnerDialogsPatchDialog', { dialogId, 'If-Match': dialogId, body });
  const { client: three } = await openServer(blockfrost ?? '', { baseUrl, headers });
  await three.callTool('get_accounts_stake_address_rewards', { stake_address: 'stake1', count: 5, order: 'desc' });
  expect(seen).toMatchObject([
    { method: 'GET', url: '/v1/activity?fields=id%2Cuser.name&filter=%7B%22action%22%3A%7B%22_eq%22%3A%22login%22%7D%7D&limit=-1' },
    {
      method: 'PATCH',
      url: `/v1/api/v1/serviceowner/dialogs/${dialogId}`,
      headers: { 'if-match': dialogId, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    },
    { method: 'GET', url: '/v1/accounts/stake1/rewards?count=5&order=desc', headers },
  ]);
});

it('makes a server of the operations that a document has at another address', async () => {
  const { text } = documents[2] ?? { text: '' };
  const { client, problems } = await openServer(text, {
    baseUrl: 'https://ipfs.blockfrost.io/api/v0',
    tools: (tool) => (tool.path.startsWith('/ipfs/') ? tool : undefined),
  });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('ipfs_add');
  expect(problems.map(({ pointer }) => pointer)).not.toContain('#/paths/~1ipfs~1add/servers');
});
