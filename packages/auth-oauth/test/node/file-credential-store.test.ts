import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { oauth } from '@mortise/auth-oauth/client';
import { FileCredentialStore } from '@mortise/auth-oauth/node';
import { credentialStoreCases } from '@mortise/transport-testkit/credential-store';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { agreeing, ask, createWorld } from '../support/world.ts';

let folder: string;
let path: string;
const children: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mortise-credentials-'));
  path = join(folder, 'below', 'credentials.json');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

describeKit('the file credential store', credentialStoreCases, {
  create: async () => {
    const own = await mkdtemp(join(tmpdir(), 'mortise-credentials-kit-'));
    const file = join(own, 'credentials.json');
    return {
      store: new FileCredentialStore(file),
      other: new FileCredentialStore(file),
      close: async () => await rm(own, { recursive: true, force: true }),
    };
  },
  traits: { locks: true },
});

function start(fixture: string, ...args: readonly string[]) {
  const file = join(import.meta.dirname, '../fixtures', fixture);
  const child = spawn(process.execPath, ['--conditions=mortise-source', '--import', 'tsx', file, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, line: async () => String((await lines.next()).value) };
}

describe('the file', () => {
  it('[AUTH-079] can be read by its owner alone, and so can its folder', async () => {
    const store = new FileCredentialStore(path);
    await store.put('https://issuer.example', 'client', { secret: 'hush' });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, '..'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(path, '..'))).toEqual(['credentials.json']);
  });

  it('[AUTH-079] is refused once others can read it, and nothing is written to it', async () => {
    const store = new FileCredentialStore(path);
    await store.put('https://issuer.example', 'client', { secret: 'hush' });
    await chmod(path, 0o644);
    await expect(store.get('https://issuer.example', 'client')).rejects.toMatchObject({ code: 'ERR_CREDENTIAL_FILE' });
    const before = await readFile(path, 'utf8');
    await expect(store.put('https://issuer.example', 'client', {})).rejects.toMatchObject({ code: 'ERR_CREDENTIAL_FILE' });
    expect(await readFile(path, 'utf8')).toBe(before);
  });

  it.each(['', '{"version":2,"issuers":{}}', '{"secret":"hush"'])('is refused where it holds %j, without a word of that', async (text) => {
    const store = new FileCredentialStore(path);
    await store.put('https://issuer.example', 'client', {});
    await writeFile(path, text);
    const error = await store.get('https://issuer.example', 'client').catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'ERR_CREDENTIAL_FILE' });
    expect(String(error)).not.toContain('hush');
  });
});

describe('the lock', () => {
  it('lets several processes refresh once', async () => {
    const world = await createWorld();
    try {
      const { as, server } = world;
      expect(await ask(oauth(server.url, { store: new FileCredentialStore(path), signIn: agreeing(as) }), server.url)).toBe(200);
      as.accessTokens.clear();
      const processes = Array.from({ length: 3 }, () => start('refresh-once.ts', server.url, path));
      for (const { line } of processes) expect(await line()).toBe('ready');
      for (const { child } of processes) child.stdin.write('go\n');
      expect(await Promise.all(processes.map(({ line }) => line()))).toEqual(['200', '200', '200']);
      expect(as.to('/token').map(({ body }) => body['grant_type'])).toEqual(['authorization_code', 'refresh_token']);
    } finally {
      await world.close();
    }
  });

  it('is taken over from a process that died, and not before', async () => {
    const { child, line } = start('hold-lock.ts', path, 'refresh');
    expect(await line()).toBe('held');
    const store = new FileCredentialStore(path);
    let hasRun = false;
    const waiting = store.withLock('refresh', async () => {
      hasRun = true;
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(hasRun).toBe(false);
    const [lock = ''] = (await readdir(join(path, '..'))).filter((name) => name.endsWith('.lock'));
    const longAgo = new Date(Date.now() - 60_000);
    await utimes(join(path, '..', lock), longAgo, longAgo);
    await waiting;
    expect(hasRun).toBe(true);
    expect(await readdir(join(path, '..'))).toEqual([]);
  });
});
