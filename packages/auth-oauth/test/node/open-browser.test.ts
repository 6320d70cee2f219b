import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openBrowser } from '@mortise/auth-oauth/node';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mortise-browser-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** An opener that writes down its arguments. */
const recorder = (file: string): readonly string[] => [
  process.execPath,
  '-e',
  'require("fs").writeFileSync(process.argv[1], JSON.stringify(process.argv.slice(2)))',
  file,
];

async function openedWith(url: string): Promise<readonly string[]> {
  const file = join(folder, 'arguments.json');
  await openBrowser(url, { opener: recorder(file) });
  await expect.poll(async () => await readFile(file, 'utf8').catch(() => '')).not.toBe('');
  return JSON.parse(await readFile(file, 'utf8')) as readonly string[];
}

describe('opening a browser', () => {
  it.each([
    '$(touch pwned)',
    '`touch pwned`',
    ';touch pwned',
    '&touch pwned',
    '|touch pwned',
    '"; touch pwned; "',
    "'; touch pwned; '",
    '%0atouch',
  ])(
    '[SEC-011] gives a URL with %s to the opener as one argument, with nothing that a shell interprets but ";" and "&"',
    async (metacharacters) => {
      const url = `https://as.example.com/${metacharacters}?x=${metacharacters}#${metacharacters}`;
      const opened = await openedWith(url);
      expect(opened.map(decodeURIComponent)).toEqual([decodeURIComponent(new URL(url).href)]);
      expect(opened[0]).not.toMatch(/[$()|^'`]/);
      await expect(stat('pwned')).rejects.toThrow();
    },
  );

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'vbscript:x',
    '--help',
    'http://as.example.com/',
    'https://a:b@as.example.com/',
    'calc.exe',
  ])('[SEC-010] opens no %s', async (url) => {
    const file = join(folder, 'arguments.json');
    await expect(openBrowser(url, { opener: recorder(file) })).rejects.toMatchObject({ code: 'ERR_UNSAFE_URL' });
    await expect(stat(file)).rejects.toThrow();
  });

  it('[SEC-010] opens http on this machine', async () => {
    expect(await openedWith('http://127.0.0.1:8080/authorize')).toEqual(['http://127.0.0.1:8080/authorize']);
  });

  it('says so where the opener finds no browser', async () => {
    const opening = openBrowser('https://as.example.com/', { opener: [process.execPath, '-e', 'process.exitCode = 3'] });
    await expect(opening).rejects.toMatchObject({ code: 'ERR_SIGN_IN_REQUIRED', message: expect.stringContaining('exited with 3') });
  });

  it('says so where there is no opener', async () => {
    await expect(openBrowser('https://as.example.com/', { opener: [join(folder, 'none')] })).rejects.toMatchObject({
      code: 'ERR_SIGN_IN_REQUIRED',
    });
  });
});
