/** Configuration files of desktop hosts: what they may say, and what is said of mistakes. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { serveHttp } from '@mortise/transport-http/node';
import { serveWebSocket } from '@mortise/transport-ws-custom/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ConfigOptions, type LoadedConfig, parseConfig, readConfigFile } from '../src/config.ts';
import { makeServer, openHost, textOf } from './servers.ts';

const showing = fileURLToPath(new URL('programs/showing.ts', import.meta.url));
const node = process.execPath;
const args = ['--conditions=mortise-source', '--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href, showing];

const parse = (config: object | string, options?: ConfigOptions): Promise<LoadedConfig> =>
  parseConfig(typeof config === 'string' ? config : JSON.stringify(config, undefined, 2), 'mcp.json', options);

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'mortise-config-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

describe('a configuration file', () => {
  it('starts programs with arguments, environment, files of variables and folder', async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, '.env'), 'FROM_FILE=file\nBOTH=file\n');
    await writeFile(
      join(folder, 'mcp.json'),
      `{
        // Comments and trailing commas are usual in these files.
        "mcpServers": {
          "show": { "command": "\${NODE}", "args": ${JSON.stringify(args)}, "env": { "BOTH": "own", "PORT": 80, "SECRET": "\${env:TOKEN}" },
            "envFile": "\${workspaceFolder}/.env", "cwd": "\${workspaceFolder}", },
        },
      }`,
    );
    const { servers, problems } = await readConfigFile(join(folder, 'mcp.json'), {
      env: { NODE: node, TOKEN: 't0p' },
      names: { workspaceFolder: folder },
    });
    expect(problems).toEqual([]);
    const host = openHost({ servers });
    expect(JSON.parse(textOf(await host.callTool('show__environment')))).toMatchObject({
      FROM_FILE: 'file',
      BOTH: 'own',
      PORT: '80',
      SECRET: 't0p',
      cwd: expect.stringContaining('mortise-config-'),
    });
  });

  it('reaches servers by HTTP, HTTP with SSE, and WebSocket, with headers and inputs of the user', async () => {
    const server = makeServer('remote');
    server.registerTool('key', {}, (ctx) => ctx.origin?.header('x-key') ?? 'no header');
    const http = await serveHttp(server, { port: 0, sse: true });
    const socket = await serveWebSocket(server, { port: 0 });
    onTestFinished(async () => void (await Promise.all([http.close(), socket.close()])));
    const asked: string[] = [];
    const headers = { 'X-Key': '${input:key}' };
    const config = {
      inputs: [
        { id: 'key', type: 'promptString', description: 'The key', password: true },
        { id: 'unused', type: 'promptString' },
      ],
      servers: {
        http: { type: 'http', url: http.url, headers },
        guessed: { url: '${BASE}/mcp', headers },
        sse: { type: 'sse', url: new URL('/sse', http.url).href, headers },
        ws: { url: socket.url },
      },
    };
    const { servers, problems } = await parse(config, {
      env: { BASE: new URL(http.url).origin },
      input: ({ id, isPassword, description }) => {
        asked.push(`${id} ${isPassword} ${description}`);
        return 'k3y';
      },
    });
    expect(problems).toEqual([]);
    expect(asked).toEqual(['key true The key']);
    const host = openHost({ servers });
    for (const name of ['http', 'guessed', 'sse']) expect(textOf(await host.callTool(`${name}__key`))).toBe('k3y');
    expect(textOf(await host.callTool('ws__key'))).toBe('no header');
  });

  it('leaves out servers that are switched off, and takes defaults of variables and inputs', async () => {
    const { servers, problems } = await parse({
      inputs: [{ id: 'size', type: 'pickString', options: ['small', 'large'], default: 'small' }],
      servers: {
        off: { command: 'x', disabled: true },
        on: { command: '${CMD:-node}', args: ['${input:size}', '${EMPTY:-}'] },
      },
    });
    expect(problems).toEqual([]);
    expect(Object.keys(servers)).toEqual(['on']);
  });
});

describe('a mistake', () => {
  const good = '"good": { "command": "node" }';
  const cases = [
    ['"bad": { "command": 5 }', 'mcpServers.bad.command', 'must be a text'],
    ['"bad": { "command": "x", "args": ["a", {}] }', 'mcpServers.bad.args', 'must be a list of texts'],
    ['"bad": { "command": "x", "env": [] }', 'mcpServers.bad.env', 'must be an object of texts'],
    ['"bad": { "args": [] }', 'mcpServers.bad', 'needs "command" (a program) or "url"'],
    ['"bad": { "command": "x", "url": "https://a.example" }', 'mcpServers.bad', 'has both "command" and "url"'],
    ['"bad": { "type": "telnet", "url": "x" }', 'mcpServers.bad.type', 'is not a kind of transport'],
    ['"bad": { "type": "stdio", "url": "https://a.example" }', 'mcpServers.bad', 'needs "command"'],
    ['"bad": { "type": "http" }', 'mcpServers.bad', 'needs "url"'],
    ['"bad": { "url": "ftp://a.example" }', 'mcpServers.bad.url', 'must be a URL that begins with https://'],
    ['"bad": 5', 'mcpServers.bad', 'must be an object with "command" or "url"'],
    ['"bad": { "command": "${env:NOT_SET}" }', 'mcpServers.bad.command', 'set the variable "NOT_SET"'],
    ['"bad": { "command": "x", "args": ["a", "${input:key}"] }', 'mcpServers.bad.args[1]', 'has no entry with this id'],
    ['"bad": { "command": "x", "envFile": "/nowhere/.env" }', 'mcpServers.bad.envFile', 'cannot be read (ENOENT)'],
    ['"bad": { "url": "https://a.example", "headers": { "x": null } }', 'mcpServers.bad.headers', 'must be an object of texts'],
  ] as const;

  it.each(cases)('%s names file, line and key, and costs this server alone', async (bad, key, message) => {
    const { servers, problems } = await parse(`{\n  "mcpServers": {\n    ${good},\n    ${bad}\n  }\n}`);
    expect(problems).toMatchObject([{ severity: 'error', file: 'mcp.json', line: 4, key }]);
    expect(problems[0]?.message).toContain(message);
    expect(Object.keys(servers)).toEqual(['good']);
  });

  it('of a key that has no effect is a warning, and the server starts', async () => {
    const { servers, problems } = await parse({ mcpServers: { files: { command: 'x', comand: 'y', autoApprove: ['rm'] } } });
    expect(problems.map(({ severity, line, key }) => [severity, line, key])).toEqual([
      ['warning', 5, 'mcpServers.files.comand'],
      ['warning', 6, 'mcpServers.files.autoApprove'],
    ]);
    expect(Object.keys(servers)).toEqual(['files']);
  });

  it('of a name that is there twice is a warning, and the last one counts', async () => {
    const { servers, problems } = await parse({
      mcpServers: { a: { command: 'x' } },
      servers: { a: { command: 'y' }, b: { command: 'z' } },
    });
    expect(problems).toMatchObject([{ severity: 'warning', line: 3, key: 'mcpServers.a' }]);
    expect(Object.keys(servers)).toEqual(['a', 'b']);
  });

  it('in the JSON itself is named with its line, and what can be read is', async () => {
    const { servers, problems } = await parse('{\n  "mcpServers": {\n    "a": { "command": "x" }\n    "b": { "command": "y" }\n  }\n}');
    expect(problems).toMatchObject([{ severity: 'error', line: 4, message: expect.stringContaining('CommaExpected') }]);
    expect(Object.keys(servers)).toContain('a');
  });

  it.each([
    ['', 'is empty'],
    ['{}', 'has no servers'],
    ['{"mcpServers": []}', 'must be an object with an entry for each server'],
  ])('of the whole document (%s) is named', async (text, message) => {
    const { servers, problems } = await parse(text);
    expect(problems.map((problem) => problem.message).join()).toContain(message);
    expect(servers).toEqual({});
  });

  it('shows no values, which may be secret', async () => {
    const { problems } = await parse({ mcpServers: { a: { url: 'htps://user:s3cret@a.example', headers: { k: 's3cret' } } } });
    expect(problems).toHaveLength(1);
    expect(JSON.stringify(problems)).not.toContain('s3cret');
  });

  it('of an input without an answer costs the servers that use it', async () => {
    const { servers, problems } = await parse({
      inputs: [{ id: 'key', type: 'promptString' }, { type: 'promptString' }, { id: 'odd', type: 'command' }],
      servers: { a: { command: '${input:key}' }, b: { command: 'x' } },
    });
    expect(Object.keys(servers)).toEqual(['b']);
    expect(problems.map(({ key }) => key)).toEqual(['inputs[1]', 'inputs[2]', 'servers.a.command']);
  });
});
