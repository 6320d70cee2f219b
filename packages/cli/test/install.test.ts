import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Ran, run } from './run.ts';

function createHome(): { readonly folder: string; readonly install: (...args: readonly string[]) => Promise<Ran> } {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-install-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return { folder, install: (...args) => run(['install', ...args], { cwd: folder, env: { HOME: folder } }) };
}

const readJson = (...path: readonly string[]): unknown => JSON.parse(readFileSync(join(...path), 'utf8'));

describe('mortise install', () => {
  it.each([
    ['claude-code', '.mcp.json', 'mcpServers', {}],
    ['cursor', '.cursor/mcp.json', 'mcpServers', {}],
    ['vscode', '.vscode/mcp.json', 'servers', { type: 'stdio' }],
  ])('writes an entry for %s', async (host, file, member, more) => {
    const { folder, install } = createHome();
    const { code } = await install('npx -y @acme/weather-server@1 --units "metric tons"', host, '--yes', '--env', 'KEY=a=b');
    expect(code).toBe(0);
    const entry = { ...more, command: 'npx', args: ['-y', '@acme/weather-server@1', '--units', 'metric tons'], env: { KEY: 'a=b' } };
    expect(readJson(folder, file)).toEqual({ [member]: { 'weather-server': entry } });
  });

  it('keeps what is there, comments and all, and shows the change', async () => {
    const { folder, install } = createHome();
    const file = join(folder, '.vscode', 'mcp.json');
    mkdirSync(dirname(file));
    writeFileSync(file, '{\n  // mine\n  "servers": {\n    "old": { "command": "old" }\n  },\n  "inputs": []\n}\n');
    const { out } = await install('https://www.example.com/mcp', 'vscode', '--yes');
    const text = readFileSync(file, 'utf8');
    expect(text).toContain('  // mine\n');
    expect(JSON.parse(text.replace('// mine', ''))).toEqual({
      servers: { old: { command: 'old' }, 'example-com': { type: 'http', url: 'https://www.example.com/mcp' } },
      inputs: [],
    });
    expect(out).toContain('+    "example-com": {');
    expect((await install('https://www.example.com/mcp', 'vscode', '--yes')).out).toContain('has this entry already');
  });

  it('changes no line of others, and indents as the file does', async () => {
    const { folder, install } = createHome();
    const file = join(folder, '.mcp.json');
    const after = async (before: string): Promise<string> => {
      writeFileSync(file, before);
      expect((await install('https://www.example.com/mcp', 'claude-code', '--yes')).code).toBe(0);
      return readFileSync(file, 'utf8');
    };
    const entry = (indent: string): string =>
      ['"example-com": {', '  "type": "http",', '  "url": "https://www.example.com/mcp"', '}'].join(`\n${indent}`);
    const old = '"old": { "command": "x", "args": ["-y"] }';
    const wide = (entries: string): string => `{\n    "mcpServers": {\n        ${entries}\n    }\n}\n`;
    expect(await after(wide(old))).toBe(wide(`${old},\n        ${entry('        ').replaceAll('  "', '    "')}`));
    expect(await after('{ "theme": "dark", "mcpServers": {} }')).toBe(`{ "theme": "dark", "mcpServers": {\n    ${entry('    ')}\n  } }\n`);
    const tabs = (entries: string): string => `{\n\t"mcpServers": {\n\t\t${entries}\n\t}\n}\n`;
    expect(await after(tabs(old))).toBe(tabs(`${old},\n\t\t${entry('\t\t').replaceAll('  "', '\t"')}`));
  });

  it('writes nothing without consent, into a broken file, or where a host starts no such server', async () => {
    const { folder, install } = createHome();
    expect(await install('node server.js', 'cursor')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--yes writes without asking') as string,
    });
    const file = join(folder, '.mcp.json');
    writeFileSync(file, '{\n  "mcpServers": {,}\n}');
    expect(await install('node server.js', 'claude-code', '--yes')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/line 2: .*correct the file first/) as string,
    });
    expect(readFileSync(file, 'utf8')).toContain('{,}');
    expect((await install('https://example.com/mcp', 'claude-desktop', '--yes')).err).toContain('Claude Desktop starts programs only');
    expect((await install('wss://example.com/mcp', 'cursor', '--yes')).err).toContain('Hosts connect to no WebSocket');
    expect((await install('node server.js', 'emacs', '--yes')).err).toContain('Allowed choices are claude-desktop');
  });

  it('writes a file as a command that starts it from anywhere', async () => {
    const { folder, install } = createHome();
    writeFileSync(join(folder, 'server.ts'), '');
    await install('server.ts', 'cursor', '--yes');
    const command = join(import.meta.dirname, '../bin/mortise.js');
    const server = { command: process.execPath, args: [command, 'run', join(folder, 'server.ts')] };
    expect(readJson(folder, '.cursor', 'mcp.json')).toEqual({ mcpServers: { [basename(folder)]: server } });
  });

  it('makes the paths of a command absolute, and leaves other words', async () => {
    const { folder, install } = createHome();
    writeFileSync(join(folder, 'server.py'), '');
    mkdirSync(join(folder, 'run'));
    await install('python server.py run . ./run ./none --file=server.py', 'cursor', '--yes', '--name', 'x');
    const args = [join(folder, 'server.py'), 'run', folder, join(folder, 'run'), './none', '--file=server.py'];
    expect(readJson(folder, '.cursor', 'mcp.json')).toEqual({ mcpServers: { x: { command: 'python', args } } });
  });

  it('leaves an entry that is there already as it is written', async () => {
    const { folder, install } = createHome();
    const file = join(folder, '.mcp.json');
    const text = '{ "mcpServers": { "server": { "args": ["server.js"], "command": "node" } } }';
    writeFileSync(file, text);
    expect(await install('node server.js', 'claude-code', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('has this entry already') as string,
    });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each([
    ['{ "mcpServers": null }', '"mcpServers" is null, not an object'],
    ['{ "mcpServers": "x" }', '"mcpServers" is "x", not an object'],
    ['[]', 'the file is [], not an object'],
  ])('says of %s what is wrong', async (text, problem) => {
    const { folder, install } = createHome();
    const file = join(folder, '.mcp.json');
    writeFileSync(file, text);
    expect((await install('node server.js', 'claude-code', '--yes')).err).toBe(
      `error: ${file}: ${problem}; correct the file first, nothing was written\n`,
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it.each(['src/server.ts', 'npx mortise run src/server.ts', 'node src/server.ts --fast'])(
    'names the entry of "%s" after the project, and never replaces that of another in silence',
    async (server) => {
      const { folder, install } = createHome();
      mkdirSync(join(folder, 'src'));
      writeFileSync(join(folder, 'src', 'server.ts'), '');
      writeFileSync(join(folder, 'package.json'), '{ "name": "@acme/weather" }');
      const file = join(folder, '.cursor', 'mcp.json');
      await install('node other.js', 'cursor', '--yes', '--name', 'weather');
      const before = readFileSync(file, 'utf8');
      const { code, err } = await install(server, 'cursor', '--yes');
      expect(code).toBe(2);
      expect(err).toContain('has another server "weather", nothing was written: --name weather replaces it');
      expect(readFileSync(file, 'utf8')).toBe(before);
      expect((await install(server, 'cursor', '--yes', '--name', 'weather')).code).toBe(0);
      expect(readFileSync(file, 'utf8')).not.toContain('other.js');
      // The same program with another variable.
      expect((await install(server, 'cursor', '--yes', '--env', 'KEY=1')).code).toBe(0);
    },
  );

  it('names servers of one host by their ports', async () => {
    const { folder, install } = createHome();
    for (const port of [3000, 3001]) expect((await install(`http://localhost:${port}/mcp`, 'cursor', '--yes')).code).toBe(0);
    expect(Object.keys((readJson(folder, '.cursor', 'mcp.json') as { mcpServers: object }).mcpServers)).toEqual([
      'localhost-3000',
      'localhost-3001',
    ]);
  });

  it('leaves a symbolic link one, and the mode of its file', async () => {
    const { folder, install } = createHome();
    mkdirSync(join(folder, 'dotfiles'));
    const file = join(folder, 'dotfiles', 'mcp.json');
    writeFileSync(file, '{}', { mode: 0o644 });
    symlinkSync(file, join(folder, '.mcp.json'));
    await install('node server.js', 'claude-code', '--yes');
    expect(lstatSync(join(folder, '.mcp.json')).isSymbolicLink()).toBe(true);
    expect(readJson(file)).toHaveProperty('mcpServers');
    expect(statSync(file).mode & 0o777).toBe(0o644);
  });
});
