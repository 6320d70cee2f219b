import { MemoryCredentialStore } from '@mortise/auth-oauth/client';
import { credentialStoreCases } from '@mortise/transport-testkit/credential-store';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { expect, it } from 'vitest';

describeKit('the memory credential store', credentialStoreCases, {
  create: async () => ({ store: new MemoryCredentialStore(), close: async () => undefined }),
  traits: { locks: true },
});

it('keeps its lock while one who waited for it leaves', async () => {
  const store = new MemoryCredentialStore();
  const ran: string[] = [];
  let release = (): void => undefined;
  const held = store.withLock('refresh', async () => {
    await new Promise<void>((resolve) => (release = resolve));
    ran.push('first');
  });
  const leaver = new AbortController();
  const left = store.withLock('refresh', async () => ran.push('left'), { signal: leaver.signal });
  leaver.abort(new Error('gone'));
  await expect(left).rejects.toThrow('gone');
  const next = store.withLock('refresh', async () => ran.push('next'));
  await Promise.resolve();
  release();
  await Promise.all([held, next]);
  expect(ran).toEqual(['first', 'next']);
});
