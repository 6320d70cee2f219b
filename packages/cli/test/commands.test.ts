import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { completable, McpServer, ResourceTemplate } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { serveHttp } from '@mortise/transport-http/node';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { run } from './run.ts';

const RED = '\u001b[31m';
const REVERSED = '\u202e';

function createCalculator(): McpServer {
  const server = new McpServer({ name: 'calc', version: '1.2.3' }, { instructions: 'Adds numbers.' });
  const numbers = { a: z.number(), b: z.number(), note: z.string().optional() };
  server.registerTool('add', { description: 'Add two numbers', inputSchema: numbers }, ({ a, b }) => ({
    structuredContent: { sum: a + b },
  }));
  server.registerTool(
    'echo',
    { inputSchema: { text: z.string(), tags: z.array(z.string()).optional(), on: z.boolean().optional() } },
    (args) => JSON.stringify(args),
  );
  const edits = z.array(z.object({ from: z.string(), to: z.string().optional() }));
  const about = z.object({ author: z.string() });
  server.registerTool('edit', { annotations: { readOnlyHint: true }, inputSchema: { edits, about } }, () => 'done');
  server.registerTool('fail', {}, () => ({ content: [{ type: 'text', text: 'It is broken.' }], isError: true }));
  server.registerTool('picture', {}, () => [{ type: 'image', data: Buffer.alloc(2048).toString('base64'), mimeType: 'image/png' }]);
  server.registerTool('ask', {}, async (ctx) => (await ctx.elicit({ message: 'Who?', requestedSchema: { name: z.string() } })).action);
  server.registerTool('folders', {}, async (ctx) => JSON.stringify(await ctx.listRoots()));
  server.registerTool('sample', {}, async (ctx) => JSON.stringify(await ctx.sample({ messages: [], maxTokens: 1 })));
  server.registerResource('hostile', 'text://hostile', {}, () => `plain ${RED}red ${REVERSED}reversed`);
  server.registerResource('bytes', 'bytes://three', { mimeType: 'application/octet-stream' }, () => new Uint8Array([1, 2, 3]));
  server.registerResource(
    'user',
    new ResourceTemplate('user://{name}', { list: undefined, complete: { name: () => ['ada', 'alan'] } }),
    {},
    (uri) => uri.href,
  );
  server.registerPrompt('greet', { argsSchema: { name: z.string() } }, ({ name }) => `Say hello to ${name}`);
  const people = (value: unknown, context?: { readonly arguments?: Readonly<Record<string, string>> | undefined }): string[] =>
    (context?.arguments?.['team'] === 'math' ? ['emmy', 'emil'] : []).filter((name) => name.startsWith(String(value)));
  server.registerPrompt('meet', { argsSchema: { team: z.string(), person: completable(z.string(), people) } }, () => 'Meet them');
  return server;
}

async function serveCalculator(): Promise<{ readonly url: string; readonly server: McpServer }> {
  const server = createCalculator();
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  return { url: serving.url, server };
}

/** As `Promise.withResolvers` of newer platforms. */
function withResolvers<T>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let settle: (value: T) => void = () => undefined;
  const promise = new Promise<T>((resolve) => (settle = resolve));
  return { promise, resolve: settle };
}

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe('mortise inspect and list', () => {
  it('show what a server is and offers, for people', async () => {
    const { url } = await serveCalculator();
    const { code, out } = await run(['inspect', url]);
    expect(code).toBe(0);
    expect(out).toContain('calc 1.2.3\n  protocol      2026-07-28 (modern era)');
    expect(out).toContain('  Adds numbers.');
    expect(out).toContain('  add(a: number, b: number, note?: string)\n    Add two numbers');
    expect(out).toContain('  edit(edits: { from, to? }[], about: { author })  read-only, as the server says');
    expect(out).toContain('echo(text: string, tags?: string[], on?: boolean)');
    expect(out).toContain('Resource templates (1)\n  user://{name}  user');
  });

  it('print JSON of a stable shape', async () => {
    const { url } = await serveCalculator();
    const { out } = await run(['inspect', url, '--json', '--protocol', '2025-06-18']);
    const shown = JSON.parse(out) as Record<string, unknown>;
    expect(Object.keys(shown).sort()).toEqual(
      ['capabilities', 'era', 'instructions', 'prompts', 'protocolVersion', 'resourceTemplates', 'resources', 'server', 'tools'].sort(),
    );
    expect(shown).toMatchObject({
      era: 'legacy',
      protocolVersion: '2025-06-18',
      server: { name: 'calc' },
      prompts: [{ name: 'greet' }, { name: 'meet' }],
    });
    expect(Object.keys(JSON.parse((await run(['list', url, '--json'])).out) as object).sort()).toEqual(
      ['prompts', 'resourceTemplates', 'resources', 'tools'].sort(),
    );
  });

  it('reach a server over WebSocket', async () => {
    const serving = await serveWebSocket(createCalculator(), { port: 0 });
    onTestFinished(() => serving.close());
    expect((await run(['call', serving.url, 'add', 'a=1', 'b=2'])).out).toBe('{"sum":3}\n');
  });
});

describe('mortise call', () => {
  it.each([
    [['a=1', 'b=2.5'], '{"sum":3.5}'],
    [['{"a": 1, "b": 2}'], '{"sum":3}'],
    [['a:=1', 'b:=2', 'note=3'], '{"sum":3}'],
  ])('takes arguments as %s', async (words, out) => {
    const { url } = await serveCalculator();
    expect(await run(['call', url, 'add', ...words])).toEqual({ code: 0, out: `${out}\n`, err: '' });
  });

  it('gives each value the type that the schema names, and collects repeated keys of a list', async () => {
    const { url } = await serveCalculator();
    const { out } = await run(['call', url, 'echo', 'text=12', 'tags=1', 'tags=two', 'on=true']);
    expect(JSON.parse(out)).toEqual({ text: '12', tags: ['1', 'two'], on: true });
  });

  it('sends names that the schema does not list where it allows others, or in one JSON object', async () => {
    const server = new McpServer({ name: 'open', version: '1.0.0' });
    const properties = { a: { type: 'string' } };
    server.registerTool('open', { inputSchema: { type: 'object', properties, additionalProperties: true } }, (args) =>
      JSON.stringify(args),
    );
    server.registerTool('plain', { inputSchema: { type: 'object', properties } }, (args) => JSON.stringify(args));
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    expect((await run(['call', serving.url, 'open', 'b=x'])).out).toBe('{"b":"x"}\n');
    expect((await run(['call', serving.url, 'plain', '{"b": "x"}'])).out).toBe('{"b":"x"}\n');
    expect(await run(['call', serving.url, 'plain', 'b=x'])).toMatchObject({ code: 2, out: '' });
  });

  it('reads the arguments of a file', async () => {
    const { url } = await serveCalculator();
    const cwd = createFolder();
    writeFileSync(join(cwd, 'args.json'), '{"a": 20, "b": 22}');
    expect((await run(['call', url, 'add', '@args.json'], { cwd })).out).toBe('{"sum":42}\n');
  });

  it.each([
    [['add', 'a=x', 'b=2'], 2, 'argument "a" must be number, got "x"'],
    [['add', 'a=1'], 2, 'argument "b" is missing: add(a: number, b: number, note?: string), so add b=<value>'],
    [['add', 'nonsense'], 2, '"nonsense" is not a valid argument: write key=value'],
    [['add', 'a=1', 'b=2', 'c=3'], 2, '"add" has no argument "c": it has a, b, note (one JSON object is sent as it is)'],
    [['sub'], 2, 'The server has no tool "sub": it has add, echo, edit, fail'],
    [['x\ny'], 2, 'The server has no tool "x\\ny": it has'],
    [['ask'], 1, 'run the command in a terminal'],
    [['folders'], 1, 'name them by --root <folder>'],
    [['sample'], 1, 'use mortise inspector'],
  ])('refuses %s', async (words, code, message) => {
    const { url } = await serveCalculator();
    const ran = await run(['call', url, ...words]);
    expect(ran).toMatchObject({ code, out: '' });
    expect(ran.err).toContain(message);
  });

  it.each(['2025-11-25', '2026-07-28'])('shows what the server logs in %s, with --verbose', async (version) => {
    const server = new McpServer({ name: 'logs', version: '1.0.0' }, { capabilities: { logging: {} } });
    server.registerTool('log', {}, async (ctx) => {
      await ctx.log.info('first line');
      return 'logged';
    });
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    expect(await run(['call', serving.url, 'log', '--verbose', '--protocol', version])).toMatchObject({
      out: 'logged\n',
      err: expect.stringContaining('info: first line') as string,
    });
  });

  it('names its own option where the server takes too long', async () => {
    const server = new McpServer({ name: 'slow', version: '1.0.0' });
    server.registerTool(
      'wait',
      {},
      (ctx) => new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(new Error('over')))),
    );
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    expect(await run(['call', serving.url, 'wait', '--timeout', '0.3'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('raise --timeout') as string,
    });
  });

  it('prints the result of a failed tool, with exit code 1', async () => {
    const { url } = await serveCalculator();
    expect(await run(['call', url, 'fail'])).toEqual({ code: 1, out: 'It is broken.\n', err: 'The tool failed:\n' });
  });

  it.each([
    ['hello', { content: 'hello\n' }, ''],
    ['3 lines', { content: 'hello' }, '{\n  "content": "hello"\n}\n'],
    ['3 lines', { lines: 3 }, '{\n  "lines": 3\n}\n'],
  ])('prints what is structured beside "%s", unless the text has all of %j', async (text, structuredContent, more) => {
    const server = new McpServer({ name: 'twice', version: '1.0.0' });
    server.registerTool('twice', {}, () => ({ content: [{ type: 'text', text }], structuredContent }));
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    expect((await run(['call', serving.url, 'twice'])).out).toBe(`${text}\n${more}`);
  });

  it('describes binary content', async () => {
    const { url } = await serveCalculator();
    expect((await run(['call', url, 'picture'])).out).toBe('[image/png, 2.0 KiB]\n');
  });

  it('prints errors as JSON where JSON is asked for', async () => {
    const { url } = await serveCalculator();
    const { code, out } = await run(['read', url, 'text://none', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toEqual({
      error: { code: 'ERR_RESOURCE_NOT_FOUND', rpcCode: expect.any(Number) as number, message: expect.any(String) as string },
    });
  });

  it('says that a server is not there, with exit code 3', async () => {
    const serving = await serveHttp(createCalculator(), { port: 0 });
    await serving.close();
    const { code, err } = await run(['call', serving.url, 'add']);
    expect(code).toBe(3);
    expect(err).toContain('ECONNREFUSED');
  });
});

it('[ROBUSTNESS-6] shows a tool whose schema refers to itself many times', async () => {
  const server = new McpServer({ name: 'deep', version: '1.0.0' });
  const anyOf = Array.from({ length: 20 }, () => ({ $ref: '#/properties/x' }));
  const list = { type: 'array', items: { $ref: '#/properties/list' } };
  server.registerTool('deep', { inputSchema: { type: 'object', properties: { x: { anyOf }, list } } }, () => 'done');
  const serving = await serveHttp(server, { port: 0 });
  onTestFinished(() => serving.close());
  expect((await run(['list', serving.url])).out).toContain('deep(x?: any, list?: array[])');
  expect((await run(['call', serving.url, 'deep', 'list=a'])).err).toContain('"list" must be array');
});

describe('mortise task', () => {
  it('finds a task that call --detach started, waits for it and prints its result', async () => {
    const server = new McpServer({ name: 'slow', version: '1.0.0' }, { extensions: [createTasks()] });
    const begun = new AbortController();
    server.registerTool('slow', { execution: { taskSupport: 'required' } }, async () => {
      await once(begun.signal, 'abort');
      return 'done at last';
    });
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    const id = (await run(['call', serving.url, 'slow', '--detach'])).out.trim();
    expect((await run(['task', serving.url, id])).out).toContain(`${id} working`);
    begun.abort();
    expect((await run(['task', serving.url, id, '--wait'])).out).toBe('done at last\n');
    expect(JSON.parse((await run(['task', serving.url, id, '--json'])).out)).toMatchObject({ taskId: id, status: 'completed' });
    expect((await run(['task', serving.url, 'none'])).code).toBe(1);
  });
});

describe('mortise read, prompt and complete', () => {
  it('[ROBUSTNESS-16] lets no control or bidi character of a server reach the terminal or the JSON', async () => {
    const { url } = await serveCalculator();
    const { out } = await run(['read', url, 'text://hostile']);
    expect(out).toBe('plain \\u001b[31mred \\u202ereversed\n');
    const json = (await run(['read', url, 'text://hostile', '--json'])).out;
    expect(json).not.toMatch(/[\u001b\u202e]/);
    expect(JSON.parse(json)).toMatchObject({ contents: [{ text: `plain ${RED}red ${REVERSED}reversed` }] });
  });

  it('save what is binary, and refuse what is no base64', async () => {
    const { url, server } = await serveCalculator();
    const blob = `${' '.repeat(1e6)}!`;
    server.registerResource('broken', 'bytes://broken', {}, () => ({ contents: [{ uri: 'bytes://broken', blob }] }));
    const cwd = createFolder();
    expect((await run(['read', url, 'bytes://three', '--output', 'out.bin'], { cwd })).err).toContain('3 bytes written to');
    expect(await run(['read', url, 'bytes://broken', '--output', 'out.bin'], { cwd })).toMatchObject({
      code: 1,
      err: expect.stringContaining('no base64') as string,
    });
    expect([...readFileSync(join(cwd, 'out.bin'))]).toEqual([1, 2, 3]);
  });

  it('print a prompt, and completions', async () => {
    const { url } = await serveCalculator();
    expect((await run(['prompt', url, 'greet', 'name=Ada'])).out).toBe('user:\n  Say hello to Ada\n');
    expect((await run(['complete', url, 'user://{name}', 'name', 'a'])).out).toBe('ada\nalan\n');
    expect((await run(['complete', url, 'meet', 'person', 'em', 'team=math'])).out).toBe('emmy\nemil\n');
    expect(await run(['complete', url, 'meet', 'person', 'em'])).toEqual({ code: 0, out: '', err: 'no suggestions\n' });
  });
});

describe('mortise --config and gateway', () => {
  const program = fileURLToPath(new URL('servers/plain-stdio.mjs', import.meta.url));

  function writeConfig(): string {
    const cwd = createFolder();
    const mcpServers = { plain: { command: process.execPath, args: [program] }, broken: { args: ['x'] } };
    writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers }, null, 2));
    return cwd;
  }

  it('find a server by its name, and name what is wrong with another', async () => {
    const cwd = writeConfig();
    const { code, out, err } = await run(['call', 'plain', 'hello', '--config', 'mcp.json'], { cwd });
    expect({ code, out }).toEqual({ code: 0, out: 'hello\n' });
    expect(err).toMatch(/mcp\.json:\d+.*broken/);
    expect((await run(['call', 'other', 'hello', '--config', 'mcp.json'], { cwd })).err).toContain(
      'has no usable server "other": it has plain',
    );
  });

  it('serve all servers of a file as one', async () => {
    const cwd = writeConfig();
    const interrupt = new AbortController();
    const { promise, resolve } = withResolvers<string>();
    const onOutput = (shown: string): void => {
      const url = /serving (\S+)/.exec(shown)?.[1];
      if (url !== undefined) resolve(url);
    };
    const gateway = run(['gateway', 'mcp.json', '--http', '--port', '0'], { cwd, signal: interrupt.signal, onOutput });
    expect((await run(['call', await promise, 'plain__hello'])).out).toBe('hello\n');
    interrupt.abort(new Error('interrupted'));
    expect((await gateway).code).toBe(0);
  });
});

describe('mortise gateway', () => {
  it('says why a server fails, shows its error output with --verbose, and warns where everybody can reach it', async () => {
    const cwd = createFolder();
    const dies = { command: process.execPath, args: ['-e', 'console.error("DATABASE_URL is missing"); process.exit(1)'] };
    writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers: { dies } }));
    const interrupt = new AbortController();
    const [serving, failed] = [withResolvers<string>(), withResolvers<undefined>()];
    const onOutput = (shown: string): void => {
      const port = /serving http:..[^:]+:(\d+)/.exec(shown)?.[1];
      if (port !== undefined) serving.resolve(port);
      if (/warning: The server "dies" behind the gateway: [^]*DATABASE_URL is missing/.test(shown)) failed.resolve(undefined);
    };
    const args = ['gateway', 'mcp.json', '--http', '--port', '0', '--host', '0.0.0.0', '--verbose'];
    const gateway = run(args, { cwd, signal: interrupt.signal, onOutput });
    await run(['list', `http://127.0.0.1:${await serving.promise}/mcp`]);
    await failed.promise;
    interrupt.abort(new Error('interrupted'));
    const { err } = await gateway;
    expect(err).toContain('warning: other machines can use this without signing in');
    expect(err).toContain('\ndies: DATABASE_URL is missing');
  });
});

describe('mortise listen', () => {
  it('prints what a server announces until it is interrupted', async () => {
    const { url, server } = await serveCalculator();
    const interrupt = new AbortController();
    let isChanged = false;
    const onOutput = (shown: string): void => {
      if (shown.includes('listening') && !isChanged) {
        isChanged = true;
        server.registerTool('late', {}, () => 'late');
      }
      if (shown.includes('notifications/tools/list_changed')) interrupt.abort(new Error('interrupted'));
    };
    const { code, out } = await run(['listen', url, '--json'], { signal: interrupt.signal, onOutput });
    expect(code).toBe(130);
    expect(
      out
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { method: string }).method),
    ).toContain('notifications/tools/list_changed');
  });

  it('says that the server ended the subscription, with exit code 3', async () => {
    const serving = await serveHttp(createCalculator(), { port: 0 });
    const listening = withResolvers<undefined>();
    const onOutput = (shown: string): void => void (shown.includes('listening') && listening.resolve(undefined));
    const ran = run(['listen', serving.url], { onOutput });
    await listening.promise;
    await serving.close();
    expect(await ran).toMatchObject({ code: 3, err: expect.stringContaining('error: the server ended the subscription') as string });
  });
});

it('mortise task takes an id that begins with "-"', async () => {
  const { url } = await serveCalculator();
  expect(await run(['task', url, '-Abc', '--wait'])).toMatchObject({ code: 1, err: expect.stringContaining('tasks') as string });
});

describe('mortise bench', () => {
  it('counts calls and latency, and fails if calls fail', async () => {
    const { url } = await serveCalculator();
    const { code, out } = await run(['bench', url, 'add', 'a=1', 'b=2', '--duration', '0.2', '--connections', '2', '--json']);
    expect(code).toBe(0);
    const { calls, latencyMs } = JSON.parse(out) as { calls: number; latencyMs: { p50: number; max: number } };
    expect(calls).toBeGreaterThan(0);
    expect(latencyMs.max).toBeGreaterThanOrEqual(latencyMs.p50);
    expect((await run(['bench', url, 'fail', '--duration', '0.1'])).code).toBe(1);
  });

  it('names twenty kinds of errors, cut to 200 characters, and counts the others together', async () => {
    const server = new McpServer({ name: 'failing', version: '1.0.0' });
    let calls = 0;
    server.registerTool('fail', {}, () => {
      calls += 1;
      if (calls === 1) return 'done';
      throw new ProtocolError(-32_603, `error ${calls} ${'x'.repeat(1000)}`);
    });
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    const args = ['bench', serving.url, 'fail', '--duration', '0.5', '--connections', '40'];
    const { code, out } = await run([...args, '--json']);
    expect(code).toBe(1);
    const { errors } = JSON.parse(out) as { errors: Record<string, number> };
    const kinds = Object.entries(errors);
    expect(kinds).toHaveLength(21);
    expect(Object.keys(errors).every((message) => message.length <= 200)).toBe(true);
    expect(kinds.reduce((sum, [, count]) => sum + count, 0)).toBe(calls - 1);
    expect(errors['other errors']).toBe(calls - 21);
    calls = 0;
    const { out: shown } = await run(args);
    expect(shown).toContain('1 × The server answered with error -32603: error 2');
    expect(shown).not.toContain('NaN');
  });

  it('divides by the time until the last answer, not by the time that was asked for', async () => {
    const server = new McpServer({ name: 'slow', version: '1.0.0' });
    server.registerTool('wait', {}, async () => {
      // The call's own time, which the command must count. Longer than what is expected below, because a timer may end a little early.
      await new Promise((resolve) => setTimeout(resolve, 250));
      return 'done';
    });
    const serving = await serveHttp(server, { port: 0 });
    onTestFinished(() => serving.close());
    const { out } = await run(['bench', serving.url, 'wait', '--duration', '0.001', '--connections', '1', '--json']);
    const { callsPerSecond, durationSeconds } = JSON.parse(out) as { callsPerSecond: number; durationSeconds: number };
    expect(durationSeconds).toBeGreaterThanOrEqual(0.2);
    expect(callsPerSecond).toBeLessThanOrEqual(5);
  });
});

describe('mortise', () => {
  it.each([
    [['nonsense'], "unknown command 'nonsense'; run it with --help"],
    [['inspect'], "missing required argument 'server'"],
    [['run', 'none.ts', '--port', 'x'], 'It must be a whole number from 0 to 65535'],
    [['run', 'none.ts'], 'There is no file'],
    [['run', 'none.ts', '--ws', '--http'], "option '--http' cannot be used with option '--ws'"],
    [['inspect', 'http://127.0.0.1:1/mcp', '--protocol', '2020-01-01'], '--protocol "2020-01-01" is not a revision: choose one of'],
    [['inspect', 'http://127.0.0.1:1/mcp', '--header', 'none'], '"none" has no ":"'],
    [['inspect', 'http://127.0.0.1:1/mcp', '--env', 'A=b'], '--env is for a server that is started'],
    [['inspector', 'http://127.0.0.1:1/mcp', '--env', 'A=b'], '--env is for a server that is started'],
    [['doctor', 'node x.js', '--header', 'A: b'], '--header is for a server with a URL'],
    [['doctor', 'http://127.0.0.1:1/mcp', '--sse'], 'leave --sse out'],
    [['inspect', 'http://127.0.0.1:1/mcp', '--header', 'Host: x'], 'is set by the transport itself'],
  ])('refuses %s with exit code 2', async (args, message) => {
    const { code, err } = await run(args);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
    expect(await run(['--version'])).toMatchObject({ code: 0, out: `${version}\n` });
  });

  it('shows help with examples', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    expect(out).toContain('Examples:');
  });
});
