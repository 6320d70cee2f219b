import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMortiseError } from '@mortise/jsonrpc-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HandlerContext } from '../src/handler-context.ts';
import { files, type FilesOptions } from '../src/node.ts';

type FilesResource = ReturnType<typeof files>;

let place: string;
let root: string;

beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'mortise-files-'));
  root = join(place, 'docs');
  await mkdir(join(root, 'guides', 'deep'), { recursive: true });
  await mkdir(join(root, '.git'));
  await mkdir(join(place, 'docs-secret'));
  await writeFile(join(root, 'README.md'), '# Hello\n');
  await writeFile(join(root, 'guides', 'start.md'), 'Start\n');
  await writeFile(join(root, 'guides', 'deep', 'a b#c%.txt'), 'odd name');
  await writeFile(join(root, 'pixel.png'), Uint8Array.of(0x89, 0x50, 0, 0xff));
  await writeFile(join(root, 'latin.txt'), Uint8Array.of(0xe4, 0xf6));
  await writeFile(join(root, '.env'), 'KEY=1');
  await writeFile(join(root, '.git', 'config'), 'x');
  await writeFile(join(root, 'big.txt'), 'x'.repeat(1_001));
  await writeFile(join(place, 'secret.txt'), 'outside');
  await writeFile(join(place, 'docs-secret', 'twin.txt'), 'outside with the same beginning');
  await symlink('README.md', join(root, 'inside-link.md'));
  await symlink(join(place, 'secret.txt'), join(root, 'outside-link.txt'));
  await symlink('../secret.txt', join(root, 'relative-link.txt'));
  await symlink(place, join(root, 'outside-dir'));
  await symlink('.', join(root, 'loop'));
  await symlink('.env', join(root, 'hidden-link'));
  await symlink('nowhere', join(root, 'dangling'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});

afterAll(async () => rm(place, { recursive: true, force: true }));

/** No option of these tests but `allow` looks at the context, and that one only at the principal. */
const ctx = { principal: 'alice' } as HandlerContext;

/** Reads a URI as a server does: what the template does not match does not exist. */
async function read(docs: FilesResource, uri: string): Promise<unknown> {
  const variables = docs.template.uriTemplate.match(uri);
  return variables === undefined ? undefined : docs.read(new URL(uri), variables as Record<string, string>, ctx);
}

const open = (options: FilesOptions = {}): FilesResource => files(root, options);
const at = (path: string): string => `file:///docs/${path}`;

describe('what is served', () => {
  it('[RES-005] gives text as text and everything else as bytes', async () => {
    expect(await read(open(), at('README.md'))).toEqual({ mimeType: 'text/markdown', text: '# Hello\n' });
    expect(await read(open(), at('pixel.png'))).toEqual({ mimeType: 'image/png', blob: Buffer.from([0x89, 0x50, 0, 0xff]) });
    expect(await read(open(), at('latin.txt'))).toEqual({ mimeType: 'text/plain', blob: Buffer.from([0xe4, 0xf6]) });
  });

  it('gives no directory', async () => {
    for (const path of ['', 'guides', 'guides/']) expect(await read(open(), at(path)), path).toBeUndefined();
  });

  it('[RES-003] lists files with URI, name, type, size and time, nearest to the root first', async () => {
    const listed = await open().template.listCallback?.(ctx);
    expect(listed?.resources.map(({ uri }) => uri)).toEqual([
      at('README.md'),
      at('big.txt'),
      at('inside-link.md'),
      at('latin.txt'),
      at('pixel.png'),
      at('guides/start.md'),
      at('guides/deep/a%20b%23c%25.txt'),
    ]);
    expect(listed?.resources[0]).toMatchObject({
      name: 'README.md',
      mimeType: 'text/markdown',
      size: 8,
      annotations: { lastModified: expect.stringMatching(/^\d{4}-\d\d-\d\dT/) },
    });
  });

  it('reads every URI that it lists', async () => {
    const docs = open();
    for (const { uri } of (await docs.template.listCallback?.(ctx))?.resources ?? []) expect(await read(docs, uri), uri).toBeDefined();
  });

  it('stops a list at 1,000 files', async () => {
    const many = join(place, 'many');
    await mkdir(many);
    await Promise.all(Array.from({ length: 1_001 }, (_, index) => writeFile(join(many, `${index}.txt`), '')));
    expect((await files(many).template.listCallback?.(ctx))?.resources).toHaveLength(1_000);
  });

  it('completes the paths that it lists', async () => {
    const complete = open().template.completeCallback('path');
    expect(await complete?.('', {}, ctx)).toHaveLength(7);
    expect(await complete?.('gui', {}, ctx)).toEqual(['guides/start.md', 'guides/deep/a b#c%.txt']);
    expect(await complete?.('guides/st', {}, ctx)).toEqual(['guides/start.md']);
    expect(await complete?.('../', {}, ctx)).toEqual([]);
    expect(await complete?.('outside-dir/', {}, ctx)).toEqual([]);
  });

  it('takes a file URL as its root, and a URI of its own', async () => {
    const docs = files(pathToFileURL(root), { uri: 'docs://handbook' });
    expect(await read(docs, 'docs://handbook/README.md')).toMatchObject({ mimeType: 'text/markdown' });
  });

  it('refuses a file that is longer than the bound, in a sentence that names the bound', async () => {
    const refusal = await Promise.resolve(read(open({ maxBytes: 1_000 }), at('big.txt'))).catch((error: unknown) => error);
    expect(isMortiseError(refusal) && refusal.message).toBe(
      'The file is larger than 1000 bytes, the limit of this server (option maxBytes)',
    );
    expect(await read(open({ maxBytes: 1_001 }), at('big.txt'))).toMatchObject({ text: 'x'.repeat(1_001) });
  });
});

describe('what is never read', () => {
  const attacks = [
    '../secret.txt',
    'guides/../../secret.txt',
    './README.md',
    'guides/./start.md',
    'guides//start.md',
    '..',
    '.',
    '/etc/passwd',
    '//etc/passwd',
    '%2e%2e/secret.txt',
    '%2e%2e%2fsecret.txt',
    '..%2Fsecret.txt',
    '%252e%252e%252fsecret.txt',
    '..%5csecret.txt',
    '..\\secret.txt',
    'guides\\..\\..\\secret.txt',
    '%2Fetc%2Fpasswd',
    'README.md%00.png',
    'README.md%0a',
    '%00',
    'C:%5CWindows%5Cwin.ini',
    'C:/Windows/win.ini',
    '%5C%5Cserver%5Cshare',
    '../docs-secret/twin.txt',
    '%c0%ae%c0%ae/secret.txt',
    '%uff0e%uff0e/secret.txt',
    '．．/secret.txt',
    '..;/secret.txt',
    'README.md/x',
    'pipe',
    'dangling',
  ];

  it.each(attacks)('[RES-018] finds nothing at %j', async (path) => {
    const docs = open({ hidden: true });
    expect(await read(docs, at(path))).toBeUndefined();
    // The same once more, past the template: what a handler is given, already decoded.
    expect(await docs.read(new URL('file:///docs'), { path: decodeURIComponentOr(path) }, ctx)).toBeUndefined();
  });

  it('finds nothing at paths that are too long or too deep', async () => {
    expect(await read(open(), at('a'.repeat(4_000)))).toBeUndefined();
    expect(await read(open(), at(`${'a/'.repeat(2_000)}x`))).toBeUndefined();
  });

  it.each(['outside-link.txt', 'relative-link.txt', 'outside-dir/secret.txt', 'outside-dir', 'loop/outside-link.txt'])(
    '[RES-018] does not follow the link %s out of the root',
    async (path) => {
      expect(await read(open(), at(path))).toBeUndefined();
    },
  );

  it('follows a link that ends inside', async () => {
    expect(await read(open(), at('inside-link.md'))).toMatchObject({ text: '# Hello\n' });
    expect(await read(open(), at('loop/loop/guides/start.md'))).toMatchObject({ text: 'Start\n' });
  });

  it('hides names that begin with a dot, also behind a link, unless they are wanted', async () => {
    for (const path of ['.env', '.git/config', 'hidden-link', 'loop/.env']) {
      expect(await read(open(), at(path)), path).toBeUndefined();
      expect(await read(open({ hidden: true }), at(path)), path).toBeDefined();
    }
  });

  it('[RES-019] shows to each caller what that caller may see, by real path too', async () => {
    const asked: string[] = [];
    const docs = open({
      allow: (path, { principal }) => {
        asked.push(path);
        return principal === 'root' || (path !== 'guides' && path !== 'README.md');
      },
    });
    expect(await read(docs, at('big.txt'))).toBeDefined();
    expect(await read(docs, at('README.md'))).toBeUndefined();
    expect(await read(docs, at('inside-link.md'))).toBeUndefined();
    expect(await read(docs, at('guides/start.md'))).toBeUndefined();
    expect((await docs.template.listCallback?.(ctx))?.resources.map(({ name }) => name)).toEqual(['big.txt', 'latin.txt', 'pixel.png']);
    expect(await docs.template.completeCallback('path')?.('guides/', {}, ctx)).toEqual([]);
    expect(asked).toContain('guides');
  });
});

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

describe('a root that is no directory', () => {
  it('is refused at once, with what a relative path begins at', () => {
    expect(() => files('./no-such-place')).toThrow(/no directory at ".*no-such-place".*new URL\("\.\/no-such-place", import\.meta\.url\)/);
    expect(() => files(pathToFileURL(join(place, 'missing')))).toThrow(/no directory at ".*missing"$/);
    expect(() => files(join(root, 'README.md'))).toThrow(/ERR_REGISTRATION|no directory/);
  });
});
