/** Servers of small documents: schemas, requests, answers, bounds and problems. */

import { EventEmitter, once } from 'node:events';
import type { JsonObject } from '@mortise/jsonrpc-core';
import { describe, expect, it } from 'vitest';
import { createOpenApiServer, type OpenApiServerOptions } from '../src/index.ts';
import { documentOf, openServer, serveApi } from './stub-api.ts';

const query = (name: string, more: object = {}): object => ({ name, in: 'query', schema: {}, ...more });
const inPath = (name: string, more: object = {}): object => ({ name, in: 'path', required: true, schema: { type: 'string' }, ...more });
const jsonBody = (schema: object, required = true): object => ({ required, content: { 'application/json': { schema } } });

describe('tools', () => {
  it('have the name, texts, hints and joined schema of their operation', async () => {
    const { baseUrl } = await serveApi();
    const document = documentOf({
      '/users/{id}': {
        parameters: [inPath('id', { description: 'Whose' }), query('page')],
        put: {
          operationId: 'users/update',
          summary: 'Update a user',
          description: 'Changes all fields.',
          deprecated: true,
          parameters: [
            query('page', { required: true, schema: { type: 'integer', minimum: 1 } }),
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          ],
          requestBody: jsonBody({ type: 'object', properties: { name: { type: 'string' } } }),
        },
        get: {},
      },
    });
    const { client, problems } = await openServer(document, { baseUrl });
    expect(problems).toEqual([]);
    const [update, read] = (await client.listTools()).tools;
    expect(update).toMatchObject({
      name: 'users_update',
      title: 'Update a user',
      description: 'Deprecated. Update a user\n\nChanges all fields.',
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
      inputSchema: {
        type: 'object',
        properties: {
          id: { type: 'string', description: 'Whose' },
          page: { type: 'integer', minimum: 1 },
          'X-Trace': { type: 'string' },
          body: { type: 'object', properties: { name: { type: 'string' } } },
        },
        required: ['id', 'page', 'body'],
        additionalProperties: false,
      },
    });
    expect(read).toMatchObject({ name: 'get_users_id', description: 'GET /users/{id}', annotations: { readOnlyHint: true } });
  });

  it('have names of at most 64 characters, the same in every document', async () => {
    const { baseUrl } = await serveApi();
    const operationId = 'x'.repeat(100);
    const { client } = await openServer(
      documentOf({ '/': { get: {} }, '/a': { get: { operationId } }, '/b': { get: { operationId: `${operationId}y` } } }),
      {
        baseUrl,
      },
    );
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names[0]).toBe('get');
    expect(new Set(names).size).toBe(3);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/u);
    expect(names[1]).toBe('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_1brhbdh');
  });

  it('keep references to schemas, also to themselves, and leave out what the API alone writes', async () => {
    const { baseUrl, seen } = await serveApi();
    const tree = {
      type: 'object',
      required: ['id', 'name'],
      properties: {
        id: { type: 'string', readOnly: true },
        name: { type: 'string' },
        children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } },
      },
    };
    const document = documentOf(
      { '/trees': { post: { operationId: 'plant', requestBody: { $ref: '#/components/requestBodies/Tree' } } } },
      { components: { schemas: { Tree: tree }, requestBodies: { Tree: jsonBody({ $ref: '#/components/schemas/Tree' }) } } },
    );
    const { client } = await openServer(document, { baseUrl });
    expect((await client.listTools()).tools[0]?.inputSchema).toMatchObject({
      properties: { body: { $ref: '#/$defs/Tree' } },
      $defs: { Tree: { required: ['name'], properties: { children: { items: { $ref: '#/$defs/Tree' } } } } },
    });
    const body = { name: 'oak', children: [{ name: 'twig', children: [] }] };
    await client.callTool('plant', { body });
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body);
    expect(await client.callTool('plant', { body: { name: 'oak', children: [{ name: 1 }] } })).toMatchObject({ isError: true });
    expect(seen).toHaveLength(1);
  });

  it('say as JSON Schema what OpenAPI 3.0 says in its own way', async () => {
    const { baseUrl } = await serveApi();
    const schema = {
      type: 'object',
      properties: {
        size: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false, example: 3 },
        color: { type: 'string', enum: ['red'], nullable: true },
        any: { allOf: [{ type: 'string' }], nullable: true },
        bytes: { type: 'string', format: 'byte' },
        example: { type: 'string' },
      },
    };
    const document = { ...documentOf({ '/': { post: { requestBody: jsonBody(schema) } } }), openapi: '3.0.3' };
    const { client } = await openServer(document, { baseUrl });
    const { properties } = (await client.listTools()).tools[0]?.inputSchema as unknown as { properties: { body: JsonObject } };
    expect(properties.body['properties']).toEqual({
      size: { type: 'number', exclusiveMinimum: 0, maximum: 9 },
      color: { type: ['string', 'null'], enum: ['red', null] },
      any: { anyOf: [{ allOf: [{ type: 'string' }] }, { type: 'null' }] },
      bytes: { type: 'string', contentEncoding: 'base64' },
      example: { type: 'string' },
    });
  });

  it('are renamed and left out as the program says', async () => {
    const { baseUrl } = await serveApi();
    const document = documentOf({ '/a': { get: { operationId: 'read', tags: ['open'] }, delete: { operationId: 'remove' } } });
    const { client } = await openServer(document, {
      baseUrl,
      tools: (tool) => (tool.tags.includes('open') ? { ...tool, name: 'look', description: 'Looks' } : undefined),
    });
    expect((await client.listTools()).tools).toMatchObject([{ name: 'look', description: 'Looks' }]);
    expect((await client.callTool('look')).structuredContent).toMatchObject({ method: 'GET', url: '/v1/a' });
  });
});

describe('requests', () => {
  const cases = [
    ['a list', query('q'), { q: ['a b', 'c'] }, '?q=a+b&q=c'],
    ['a list in one', query('q', { explode: false }), { q: ['a', 'b'] }, '?q=a%2Cb'],
    ['a list with pipes', query('q', { style: 'pipeDelimited' }), { q: ['a', 'b'] }, '?q=a%7Cb'],
    ['an object', query('q'), { q: { a: 1, b: 'x' } }, '?a=1&b=x'],
    ['a deep object', query('q', { style: 'deepObject' }), { q: { a: { b: [1, 2] } } }, '?q%5Ba%5D%5Bb%5D=1&q%5Ba%5D%5Bb%5D=2'],
    ['JSON', { name: 'q', in: 'query', content: { 'application/json': { schema: {} } } }, { q: { a: 1 } }, '?q=%7B%22a%22%3A1%7D'],
  ] as const;
  it.each(cases)('have %s in the query as the document says', async (_, parameter, args, expected) => {
    const { baseUrl, seen } = await serveApi();
    const { client } = await openServer(documentOf({ '/': { get: { parameters: [parameter] } } }), { baseUrl });
    await client.callTool('get', args);
    expect(seen[0]?.url).toBe(`/v1/${expected}`);
  });

  it('have arguments of the same name in their own places', async () => {
    const { baseUrl, seen } = await serveApi();
    const parameters = [
      inPath('id'),
      query('id'),
      query('query_id'),
      query('body'),
      { name: 'X-List', in: 'header', schema: { type: 'array' } },
    ];
    const document = documentOf({ '/a/{id}': { post: { operationId: 'a', parameters, requestBody: jsonBody({}) } } });
    const { client } = await openServer(document, { baseUrl });
    await client.callTool('a', { path_id: 'x/y?z', query_id_: 'q', query_id: 'r', query_body: 'b', 'X-List': [1, 2], body: [null] });
    expect(seen[0]).toMatchObject({
      url: '/v1/a/x%2Fy%3Fz?id=q&query_id=r&body=b',
      body: '[null]',
      headers: { 'x-list': '1,2', 'content-type': 'application/json' },
    });
  });

  it('send forms, files and text', async () => {
    const { baseUrl, seen } = await serveApi();
    const post = (type: string, schema: object): object => ({ post: { requestBody: { required: true, content: { [type]: { schema } } } } });
    const bytes = { type: 'string', format: 'binary' };
    const file = { type: 'object', properties: { title: { type: 'string' }, file: bytes, more: { type: 'array', items: bytes } } };
    const document = documentOf({
      '/form': post('application/x-www-form-urlencoded', { type: 'object' }),
      '/file': post('multipart/form-data', file),
      '/text': post('text/plain', { type: 'string' }),
    });
    const { client } = await openServer(document, { baseUrl });
    await client.callTool('post_form', { body: { a: 'x y', b: [1, 2] } });
    await client.callTool('post_file', { body: { title: 'T', file: btoa('bytes'), more: [btoa('one'), btoa('two')] } });
    await client.callTool('post_text', { body: 'hello' });
    expect(seen[0]?.body).toBe('a=x+y&b=1&b=2');
    expect(seen[1]?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/u);
    expect(seen[1]?.body).toMatch(/name="title"\r\n\r\nT\r\n[^]*name="file"; filename="file"[^]*\r\n\r\nbytes\r\n/u);
    expect(seen[1]?.body).toMatch(/name="more"; filename="more"[^]*\r\n\r\none\r\n[^]*name="more"; filename="more"[^]*\r\n\r\ntwo\r\n/u);
    expect([seen[2]?.body, seen[2]?.headers['content-type']]).toEqual(['hello', 'text/plain']);
    expect(await client.callTool('post_file', { body: { file: '%' } })).toMatchObject({ isError: true });
  });

  it('[ROBUSTNESS-11] never leave the path and the base URL, whatever the arguments and the document say', async () => {
    const { baseUrl, seen } = await serveApi();
    const document = documentOf(
      {
        '/users/{id}/keys': { get: { operationId: 'keys', parameters: [inPath('id')] } },
        '//other.example/{id}': { get: { operationId: 'host', parameters: [inPath('id')] } },
      },
      { servers: [{ url: 'https://other.example' }] },
    );
    const { client } = await openServer(document, { baseUrl });
    for (const id of ['..', '.', '%2e%2e', '%2E.', '']) {
      const { isError } = await client.callTool('keys', { id });
      expect([id, isError ?? false]).toEqual([id, !id.startsWith('%')]);
    }
    for (const id of ['../../admin', '@other.example', 'a\\..\\b', '\u0000']) await client.callTool('keys', { id });
    await client.callTool('host', { id: 'x' });
    expect(seen.map(({ url }) => url)).toEqual([
      '/v1/users/%252e%252e/keys',
      '/v1/users/%252E./keys',
      '/v1/users/..%2F..%2Fadmin/keys',
      '/v1/users/%40other.example/keys',
      '/v1/users/a%5C..%5Cb/keys',
      '/v1/users/%00/keys',
      '/v1//other.example/x',
    ]);
  });

  it('have the headers and query of the program, which the model neither sees nor sets', async () => {
    const { baseUrl, seen } = await serveApi();
    const parameters = [
      query('key'),
      query('q'),
      { name: 'X-Tenant', in: 'header' },
      { name: 'Authorization', in: 'header' },
      { name: 'sid', in: 'cookie' },
    ];
    const document = documentOf({ '/': { get: { parameters } } });
    const { client, problems } = await openServer(document, {
      baseUrl,
      query: { key: 'secret' },
      headers: (ctx) => ({ authorization: `Bearer token of ${ctx.principal}`, 'x-tenant': 'mine' }),
    });
    expect(Object.keys((await client.listTools()).tools[0]?.inputSchema.properties ?? {})).toEqual(['q', 'X-Tenant']);
    expect(problems).toEqual([
      { pointer: '#/paths/~1/get/parameters/4', message: 'the cookie "sid" is not sent: set it by the option headers' },
    ]);
    await client.callTool('get', { q: '1', 'X-Tenant': 'another' });
    expect(seen[0]).toMatchObject({ url: '/v1/?q=1&key=secret', headers: { 'x-tenant': 'mine' } });
    expect(seen[0]?.headers.authorization).toMatch(/^Bearer token of /u);
    expect(await client.callTool('get', { 'X-Tenant': 'a\r\nb: c' })).toMatchObject({
      isError: true,
      content: [{ text: 'the value of the header "X-Tenant" has characters that a header cannot have' }],
    });
  });

  it('name a header of the program that cannot be sent, and not its value', async () => {
    const { baseUrl } = await serveApi();
    const { client } = await openServer(documentOf({ '/': { get: {} } }), {
      baseUrl,
      headers: () => ({ authorization: 'Bearer SECRET\nx' }),
    });
    const { isError, content } = await client.callTool('get');
    expect([isError, content]).toEqual([
      true,
      [{ type: 'text', text: 'the value of the header "authorization" has characters that a header cannot have' }],
    ]);
  });

  it('replace half a character in a path, as in a query', async () => {
    const { baseUrl, seen } = await serveApi();
    const { client } = await openServer(documentOf({ '/{id}': { get: { parameters: [inPath('id')] } } }), { baseUrl });
    await client.callTool('get_id', { id: 'a\ud800🍐' });
    expect(seen[0]?.url).toBe('/v1/a%EF%BF%BD%F0%9F%8D%90');
  });
});

describe('answers', () => {
  const getDocument = documentOf({ '/': { get: {} } });

  it('become JSON, text, images and files', async () => {
    const answers: [string, string][] = [
      ['application/problem+json', '{"a":1}'],
      ['application/json', '[1]'],
      ['text/csv; charset=utf-8', 'a,b'],
      ['image/png', 'PNG'],
      ['application/zip', 'PK'],
      ['', ''],
    ];
    const { baseUrl } = await serveApi((_, response) => {
      const [type = '', body] = answers.shift() ?? [];
      if (type !== '') response.setHeader('content-type', type);
      response.end(body);
    });
    const { client } = await openServer(getDocument, { baseUrl });
    expect(await client.callTool('get')).toMatchObject({ content: [{ text: '{"a":1}' }], structuredContent: { a: 1 } });
    expect(await client.callTool('get')).toMatchObject({ content: [{ text: '[1]' }] });
    expect(await client.callTool('get')).toMatchObject({ content: [{ text: 'a,b' }] });
    expect(await client.callTool('get')).toMatchObject({ content: [{ type: 'image', mimeType: 'image/png', data: btoa('PNG') }] });
    expect(await client.callTool('get')).toMatchObject({ content: [{ type: 'resource', resource: { blob: btoa('PK') } }] });
    expect(await client.callTool('get')).toMatchObject({ content: [{ text: '200 OK' }] });
  });

  it('are read in their charset', async () => {
    const types = ['text/plain; charset=iso-8859-1', 'text/plain; charset="unheard-of"'];
    const { baseUrl } = await serveApi((_, response) =>
      response.setHeader('content-type', types.shift() ?? '').end(Buffer.from('caf\u00e9', 'latin1')),
    );
    const { client } = await openServer(getDocument, { baseUrl });
    expect(await client.callTool('get')).toMatchObject({ content: [{ text: 'café' }] });
    expect(await client.callTool('get')).toMatchObject({ content: [{ text: 'caf\ufffd' }] });
  });

  it.each([130, 20_000])('that nest %i levels are text alone', async (depth) => {
    const text = `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    const { baseUrl } = await serveApi((_, response) => response.setHeader('content-type', 'application/json').end(text));
    const { client } = await openServer(getDocument, { baseUrl });
    const result = await client.callTool('get');
    expect(result).toMatchObject({ content: [{ text }] });
    expect(result).not.toHaveProperty('structuredContent');
  });

  it('that are errors become tool errors with status and body', async () => {
    const { baseUrl } = await serveApi((_, response) =>
      response.writeHead(422, { 'content-type': 'application/json' }).end('{"reason":"no such page"}'),
    );
    const { client } = await openServer(getDocument, { baseUrl });
    expect(await client.callTool('get')).toMatchObject({
      isError: true,
      content: [{ text: '422 Unprocessable Entity\n{"reason":"no such page"}' }],
    });
  });

  it('[ROBUSTNESS-11] that redirect are not followed', async () => {
    const other = await serveApi();
    const { baseUrl } = await serveApi((_, response) => response.writeHead(302, { location: other.baseUrl }).end());
    const { client } = await openServer(getDocument, { baseUrl, headers: { authorization: 'secret' } });
    expect(await client.callTool('get')).toMatchObject({
      isError: true,
      content: [{ text: 'GET /: the API answers with a redirect (302), which is not followed' }],
    });
    expect(other.seen).toEqual([]);
  });

  it('[ROBUSTNESS-7] that are too long, too late or never come are tool errors that name the bound', async () => {
    const endless = await serveApi((_, response) => {
      const write = (): void =>
        void (!response.destroyed && response.write('x'.repeat(10_000)) ? setImmediate(write) : response.once('drain', write));
      write();
    });
    const long = await openServer(getDocument, { baseUrl: endless.baseUrl, maxResponseBytes: 100_000 });
    expect(await long.client.callTool('get')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('100000 bytes') as string }],
    });
    const silent = await serveApi(() => undefined);
    const late = await openServer(getDocument, { baseUrl: silent.baseUrl, timeoutMs: 20 });
    expect(await late.client.callTool('get')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('within 20 ms') as string }],
    });
    const tokenless = await openServer(getDocument, {
      baseUrl: silent.baseUrl,
      timeoutMs: 20,
      headers: () => new Promise(() => undefined),
    });
    expect(await tokenless.client.callTool('get')).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('within 20 ms') as string }],
    });
    const gone = await openServer(getDocument, { baseUrl: 'http://127.0.0.1:1/', query: { key: 'secret' } });
    const { content } = await gone.client.callTool('get');
    expect(content).toEqual([{ type: 'text', text: expect.stringMatching(/^GET \/: the API cannot be reached/u) as string }]);
    expect(JSON.stringify(content)).not.toContain('secret');
  });

  it('are not waited for once the call is cancelled', async () => {
    const controller = new AbortController();
    const calls = new EventEmitter();
    const ended = once(calls, 'end');
    const { baseUrl } = await serveApi((_, response) => {
      response.once('close', () => calls.emit('end'));
      controller.abort(new Error('enough'));
    });
    const { client } = await openServer(getDocument, { baseUrl });
    await expect(client.callTool('get', {}, { signal: controller.signal })).rejects.toThrow('enough');
    await ended;
  });
});

describe('resources', () => {
  it('are GET operations that need no more than a path', async () => {
    const { baseUrl, seen } = await serveApi(({ url }, response) => {
      if (url.endsWith('/none')) response.writeHead(404).end();
      else response.setHeader('content-type', 'text/plain').end(url);
    });
    const document = documentOf({
      '/users': { get: { operationId: 'list', parameters: [query('page')] }, post: {} },
      '/users/{user-id}': { get: { operationId: 'user', summary: 'A user', parameters: [inPath('user-id')] } },
      '/search': { get: { operationId: 'search', parameters: [query('q', { required: true })] } },
    });
    const { client, problems } = await openServer(document, { baseUrl, resources: true });
    expect(problems).toEqual([]);
    expect((await client.listResources()).resources).toMatchObject([{ name: 'list', uri: 'openapi:/users' }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toMatchObject([
      { name: 'user', uriTemplate: 'openapi:/users/{v0_user_id}', title: 'A user' },
    ]);
    expect((await client.readResource('openapi:/users')).contents).toMatchObject([{ text: '/v1/users', mimeType: 'text/plain' }]);
    expect((await client.readResource('openapi:/users/7')).contents).toMatchObject([{ uri: 'openapi:/users/7', text: '/v1/users/7' }]);
    await expect(client.readResource('openapi:/users/none')).rejects.toThrow();
    expect(seen).toHaveLength(3);
  });
});

describe('resources that cannot be read', () => {
  it('say why', async () => {
    const { baseUrl } = await serveApi((_, response) => response.writeHead(403).end());
    const document = documentOf({ '/users/{id}': { get: { parameters: [inPath('id')] } } });
    const { client } = await openServer(document, { baseUrl, resources: true });
    await expect(client.readResource('openapi:/users/7')).rejects.toThrow('GET /users/{id}: the API answers with 403 Forbidden');
    await expect(client.readResource('openapi:/users/%2E%2E')).rejects.toThrow('must not be "." or ".."');
    const gone = await openServer(document, { baseUrl: 'http://127.0.0.1:1/', resources: true });
    await expect(gone.client.readResource('openapi:/users/7')).rejects.toThrow('GET /users/{id}: the API cannot be reached');
  });
});

describe('operations that the option `tools` leaves out', () => {
  it('are no resources either, and those that it changes have the same name and texts as resources', async () => {
    const { baseUrl } = await serveApi();
    const document = documentOf({ '/keys': { get: {} }, '/keys/{id}': { get: { parameters: [inPath('id')] } }, '/notes': { get: {} } });
    const tools: OpenApiServerOptions['tools'] = (tool) =>
      tool.path === '/notes' ? { ...tool, name: 'notes', title: 'Notes' } : undefined;
    const { client } = await openServer(document, { baseUrl, resources: true, tools });
    expect((await client.listTools()).tools).toMatchObject([{ name: 'notes' }]);
    expect((await client.listResources()).resources).toMatchObject([{ name: 'notes', title: 'Notes', uri: 'openapi:/notes' }]);
    expect((await client.listResourceTemplates()).resourceTemplates).toEqual([]);
    await expect(client.readResource('openapi:/keys')).rejects.toMatchObject({ code: 'ERR_RESOURCE_NOT_FOUND' });
  });
});

describe('documents', () => {
  it('with mistakes lose the operations that have them, named with their place', async () => {
    const { baseUrl } = await serveApi();
    const document = documentOf(
      {
        '/good': { servers: [{ url: `${baseUrl}/` }], get: { operationId: 'good' } },
        '/twice': { get: { operationId: 'good' } },
        '/null': { get: null },
        '/lost': { get: { parameters: [{ $ref: '#/components/parameters/None' }] } },
        '/else': { get: { parameters: [query('q', { schema: { $ref: 'other.yaml#/Q' } })] } },
        '/circle': { get: { parameters: [{ $ref: '#/components/parameters/A' }] } },
        '/{id}': { get: {}, head: {} },
        '/matrix/{id}': { get: { parameters: [inPath('id', { style: 'matrix' })] } },
        '/xml': {
          post: { requestBody: { required: true, content: { 'application/xml': {} } } },
          put: { requestBody: { content: { 'application/xml': {} } } },
        },
        '/cookie': { get: { parameters: [{ name: 'sid', in: 'cookie', required: true }] } },
        '/body': { get: { operationId: 'body', parameters: [query('constructor')], requestBody: jsonBody({}) } },
        '/upload': { servers: [{ url: 'https://uploads.example' }], post: {} },
        '/regex': { post: { requestBody: jsonBody({ type: 'object', properties: { a: { type: 'string', pattern: '(?i)a' } } }) } },
        'x-other': 1,
      },
      { components: { parameters: { A: { $ref: '#/components/parameters/B' }, B: { $ref: '#/components/parameters/A' } } } },
    );
    const { client, problems } = await openServer(document, { baseUrl });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['good', 'put_xml', 'body']);
    expect((await client.callTool('body')).structuredContent).toEqual({ method: 'GET', url: '/v1/body' });
    expect(Object.fromEntries(problems.map(({ pointer, message }) => [pointer, message]))).toEqual({
      '#/paths/~1twice/get': expect.stringContaining('good') as string,
      '#/paths/~1null/get': 'must be an object',
      '#/paths/~1lost/get/parameters/0': 'the $ref "#/components/parameters/None" leads to nothing',
      '#/paths/~1else/get/parameters/0/schema': 'the $ref "other.yaml#/Q" leads to another document: bundle them into one first',
      '#/paths/~1circle/get/parameters/0': 'this $ref leads in a circle',
      '#/paths/~1{id}/get': 'the path has {id}, but there is no parameter for it',
      '#/paths/~1{id}/head': 'HEAD is not made a tool',
      '#/paths/~1matrix~1{id}/get/parameters/0': 'the style "matrix" is not supported',
      '#/paths/~1xml/post/requestBody/content': 'a body of application/xml is not supported',
      '#/paths/~1xml/put/requestBody/content': 'a body of application/xml is not supported: the tool sends no body',
      '#/paths/~1cookie/get/parameters/0': 'a required parameter in "cookie" is not supported',
      '#/paths/~1body/get/requestBody': 'a GET has no body: the tool sends none',
      '#/paths/~1upload/servers': 'this operation is served at https://uploads.example: create a second server with that baseUrl',
      '#/paths/~1regex/post': expect.stringContaining('(?i)a') as string,
    });
  });

  it('with schemas that nest too deeply, or hold themselves, lose the operations that have them', async () => {
    const { baseUrl } = await serveApi();
    let deep: object = {};
    for (let depth = 0; depth < 6_000; depth += 1) deep = { type: 'array', items: deep };
    const circle: Record<string, unknown> = { type: 'object' };
    circle['properties'] = { left: circle, right: circle };
    const paths = {
      '/deep': { post: { requestBody: jsonBody(deep) } },
      '/circle': { post: { requestBody: jsonBody(circle) } },
      '/good': { post: { requestBody: jsonBody({ type: 'object' }) } },
    };
    const { client, problems } = await openServer(documentOf(paths), { baseUrl });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['post_good']);
    const message = 'nests too deeply, or holds itself: pass the document before its $refs are resolved';
    expect(problems).toMatchObject([{ message }, { message }]);
    expect(problems[1]?.pointer).toMatch(/^#\/paths\/~1circle\/post\/requestBody\//u);
  });

  it('may have any number of references that lead to one another', async () => {
    const { baseUrl } = await serveApi();
    const items = (index: number): object => ({ type: 'array', items: { $ref: `#/components/schemas/S${index + 1}` } });
    const links = Array.from({ length: 3_000 }, (_, index) => [`S${index}`, items(index)] as const);
    const schemas = { ...Object.fromEntries(links), S3000: { type: 'string' } };
    const document = documentOf(
      { '/': { post: { requestBody: jsonBody({ $ref: '#/components/schemas/S0' }) } } },
      { components: { schemas } },
    );
    const { client, problems } = await openServer(document, { baseUrl });
    expect(problems).toEqual([]);
    const { $defs } = (await client.listTools()).tools[0]?.inputSchema as { $defs?: JsonObject };
    expect(Object.keys($defs ?? {})).toHaveLength(3_001);
  });

  const noDocuments = [
    ['no YAML', '{', /neither JSON nor YAML/u],
    ['Swagger 2', { swagger: '2.0', paths: {} }, /Swagger 2/u],
    ['a list', [], /is not an object/u],
    ['of version 4', { openapi: '4.0.0' }, /"openapi" is missing or not 3.x/u],
    ['without paths', { openapi: '3.1.0', paths: [] }, /"paths"/u],
  ] as const;
  it.each(noDocuments)('that are %s are refused', (_, document, message) => {
    expect(() => createOpenApiServer(document, { baseUrl: 'https://api.example' })).toThrow(message);
  });

  it.each(['ftp://api.example', 'https://api.example/?a=1', 'https://user@api.example', 'api.example'])(
    'are refused with the base URL %s',
    (baseUrl) => {
      expect(() => createOpenApiServer(documentOf({}), { baseUrl })).toThrow(/baseUrl must be/u);
    },
  );
});
