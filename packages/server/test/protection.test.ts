/** What protects a server, seen from outside: limits, redaction, audit, files, in both eras. */

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { completable, McpServer } from '@mortise/server';
import { auditLog, type AuditRecord, createRedactor, rateLimit, redact, sanitizeOutput } from '@mortise/server/middleware';
import { files } from '@mortise/server/node';
import { rank } from '@mortise/server/rank';
import { type Loose, MODERN, RawPeer } from './raw-peer.ts';

const VERSIONS = ['2024-11-05', '2025-11-25', MODERN] as const;
/** Put together here, so that no scanner takes a test for a leak. */
const SECRET = `sk-${'abcdefghij1234567890XYZ'}`;
const create = (options = {}): McpServer => new McpServer({ name: 'guarded', version: '1.0.0' }, options);

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'mortise-protection-'));
  await mkdir(join(place, 'docs', 'sub'), { recursive: true });
  await writeFile(join(place, 'docs', 'a b.md'), '# A');
  await writeFile(join(place, 'docs', 'sub', 'c.md'), '# C');
  await writeFile(join(place, 'secret.txt'), 'outside');
  await symlink(join(place, 'secret.txt'), join(place, 'docs', 'link.txt'));
});
afterAll(async () => rm(place, { recursive: true, force: true }));

describe.each(VERSIONS)('a guarded server in %s', (version) => {
  it('[TOOL-046] refuses bad arguments, too many calls, and answers without secrets and hidden text', async () => {
    const server = create();
    server.use(rateLimit({ burst: 3, perSecond: 0.001 }));
    server.use(redact());
    server.use(sanitizeOutput());
    server.registerTool('add', { inputSchema: { a: z.number() } }, ({ a }) => `${a} ${SECRET} \u001b[31mred\u202e`);
    const peer = await RawPeer.open(server, version);
    expect((await peer.callTool('add', { a: 1 })).content).toEqual([{ type: 'text', text: '1 [redacted] red' }]);
    const { result, error } = await peer.request('tools/call', { name: 'add', arguments: { a: 'x' } });
    expect(error?.message ?? result.content[0].text).toContain('tool "add": argument "a" must be a number, got "x"');
    await peer.callTool('add', { a: 1 });
    expect((await peer.request('tools/call', { name: 'add', arguments: { a: 1 } })).error).toMatchObject({
      code: 429,
      data: { retryAfterMs: expect.any(Number) },
    });
    expect((await peer.request('tools/list')).error).toBeUndefined();
  });

  it('[COMP-009] limits completion, and shows none of what is hidden from the caller', async () => {
    const server = create();
    server.use(rateLimit({ burst: 2, perSecond: 0.001 }));
    const argsSchema = { name: completable(z.string(), (typed) => rank(typed, ['ann', 'bob'])) };
    server.registerPrompt('open', { argsSchema }, ({ name }) => name);
    server.registerPrompt('hidden', { argsSchema, visible: () => false }, ({ name }) => name);
    const peer = await RawPeer.open(server, version);
    const complete = (prompt: string): Promise<Loose> =>
      peer.request('completion/complete', { ref: { type: 'ref/prompt', name: prompt }, argument: { name: 'name', value: 'a' } });
    expect((await complete('open')).result.completion).toEqual({ values: ['ann'], total: 1, hasMore: false });
    expect((await complete('hidden')).error.code).toBe(-32602);
    expect((await complete('open')).error.code).toBe(429);
  });

  it('[PROMPT-011] checks the arguments of a prompt before its handler sees them', async () => {
    const server = create();
    const seen: unknown[] = [];
    server.registerPrompt('pick', { argsSchema: { kind: z.enum(['a', 'b']) } }, ({ kind }) => {
      seen.push(kind);
      return kind;
    });
    const peer = await RawPeer.open(server, version);
    const { error } = await peer.request('prompts/get', { name: 'pick', arguments: { kind: 'c' } });
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('prompt "pick": argument "kind" must be one of "a", "b", got "c"'),
    });
    expect(seen).toEqual([]);
  });

  it('[LOG-013] sends log messages without secrets', async () => {
    const server = create({ capabilities: { logging: {} } });
    server.registerTool('log', {}, async (ctx) => {
      await ctx.log.error({ note: `failed with ${SECRET}`, password: 'hunter2' });
      return 'done';
    });
    const peer = await RawPeer.open(server, version, { logLevel: 'debug' });
    await peer.callTool('log');
    const [message] = peer.notifications('notifications/message');
    expect(message?.params.data).toEqual({ note: 'failed with [redacted]', password: '[redacted]' });
  });

  it('writes an audit record of every request, whatever becomes of it', async () => {
    const records: AuditRecord[] = [];
    const server = create();
    server.use(
      'tools/call',
      auditLog((record) => void records.push(record), { arguments: createRedactor() }),
    );
    server.registerTool('login', { inputSchema: { password: z.string() } }, () => ({ content: [], isError: true }));
    const peer = await RawPeer.open(server, version);
    await peer.callTool('login', { password: 'hunter2' });
    await peer.request('tools/call', { name: 'nothing' });
    expect(records).toMatchObject([
      { method: 'tools/call', target: 'login', outcome: 'failed', arguments: { password: '[redacted]' }, revision: version },
      { method: 'tools/call', target: 'nothing', outcome: 'refused', errorCode: -32602 },
    ]);
  });

  it('[RES-018] reads files below a root and nothing else, however it is asked', async () => {
    const server = create();
    const docs = files(join(place, 'docs'));
    server.registerResource('docs', docs.template, docs.config, docs.read);
    const peer = await RawPeer.open(server, version);
    const listed = (await peer.call('resources/list')).resources.map(({ uri }: Loose) => uri);
    expect(listed).toEqual(expect.arrayContaining(['file:///docs/a%20b.md', 'file:///docs/sub/c.md']));
    expect((await peer.call('resources/read', { uri: 'file:///docs/a%20b.md' })).contents).toEqual([
      { uri: 'file:///docs/a%20b.md', mimeType: 'text/markdown', text: '# A' },
    ]);
    for (const path of [
      '../secret.txt',
      '%2e%2e/secret.txt',
      '..%2fsecret.txt',
      '..%5csecret.txt',
      'link.txt',
      'a%20b.md%00',
      '/etc/passwd',
      'sub/../../secret.txt',
    ]) {
      const { error, result } = await peer.request('resources/read', { uri: `file:///docs/${path}` });
      expect(result, path).toBeUndefined();
      expect([-32602, -32002], path).toContain(error?.code);
      expect(JSON.stringify(error), path).not.toContain(place);
    }
  });
});

describe('[SCHEMA-005] what a server lists', () => {
  it('[SCHEMA-005][JSCH-003] is refused at registration where it would not be valid', () => {
    expect(() =>
      create().registerTool('bad', { inputSchema: { type: 'object', properties: { a: { type: 'numbr' } } } }, () => 'x'),
    ).toThrow('tool "bad": inputSchema "type" at #/properties/a must be one of');
  });

  it('[TOOL-018][TOOL-019][TOOL-020] is refused at registration where clients would drop the tool', () => {
    const register = (schema: object) => create().registerTool('bad', { inputSchema: { type: 'object', ...schema } }, () => 'x');
    expect(() => register({ properties: { a: { type: 'string', 'x-mcp-header': 'a b' } } })).toThrow('must be a header token');
    expect(() => register({ properties: { a: { type: 'number', 'x-mcp-header': 'A' } } })).toThrow('type integer, string or boolean');
    expect(() => register({ properties: { a: { type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } } } })).toThrow(
      'reached only through "properties"',
    );
  });
});
