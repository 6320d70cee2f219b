/** `@mortise/transport-testkit/credential-store`: test cases for the guarantees C1 and C2 of a `CredentialStore` and a `LockingStore`. */

import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import { check, checkEqual } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** The object that the `CredentialStore` cases test: an empty store. */
export interface CredentialStoreSubject extends KitSubject {
  readonly store: CredentialStore & Partial<LockingStore>;
  /** Another store object over the same records, as another process would open it. @default the same object */
  readonly other?: (CredentialStore & Partial<LockingStore>) | undefined;
}

/** A test case for one guarantee of a `CredentialStore`. Cases with the trait `locks` are for stores that have `withLock`. */
export type CredentialStoreCase = KitCase<CredentialStoreSubject>;

const ISSUER = 'https://issuer.example';

/** Gives the `withLock` of a store. Fails the case if the store declares the trait `locks` but has no `withLock`. */
function lockOf(store: CredentialStore & Partial<LockingStore>): LockingStore['withLock'] {
  check(typeof store.withLock === 'function', 'A store with the trait "locks" has withLock');
  return (name, fn, options) => (store as LockingStore).withLock(name, fn, options);
}

/**
 * Test cases for the guarantees of a `CredentialStore`. The id of a case, such as C1.1, begins with the id of its guarantee.
 *
 * A trait that adds cases: `locks` (the store has `withLock`).
 */
export const credentialStoreCases: readonly CredentialStoreCase[] = [
  {
    id: 'C1.1',
    title: 'finds a value under its issuer and key only',
    async run({ store, other = store }) {
      const value = { token: 'ä\n\u2028"', list: [1, { deep: null }], __proto__x: true };
      await store.put(ISSUER, 'tokens one', value);
      checkEqual(await store.get(ISSUER, 'tokens one'), value, 'What is found');
      checkEqual(await other.get(ISSUER, 'tokens one'), value, 'What another finds');
      checkEqual(await store.get(ISSUER, 'tokens two'), undefined, 'What is found under another key');
      for (const issuer of [`${ISSUER}/`, ISSUER.toUpperCase(), 'https://issuer', '', 'constructor'])
        checkEqual(await store.get(issuer, 'tokens one'), undefined, `What is found for "${issuer}"`);
    },
  },
  {
    id: 'C1.2',
    title: 'accepts any text as issuer and key',
    async run({ store }) {
      const names = ['__proto__', 'constructor', 'a/../b', 'C:\\x', ' ', 'ключ', 'x'.repeat(2000)];
      for (const name of names) await store.put(name, name, { name });
      for (const name of names) checkEqual(await store.get(name, name), { name }, `What is found under "${name.slice(0, 20)}"`);
    },
  },
  {
    id: 'C1.3',
    title: 'gives the last value that was put, not merged with earlier ones',
    async run({ store, other = store }) {
      await store.put(ISSUER, 'client', { id: 'old', secret: 's' });
      await other.put(ISSUER, 'client', { id: 'new' });
      checkEqual(await store.get(ISSUER, 'client'), { id: 'new' }, 'What is found');
    },
  },
  {
    id: 'C1.4',
    title: 'stores copies: changing an object that was put or returned changes no stored value',
    async run({ store }) {
      const value = { list: [1] };
      await store.put(ISSUER, 'client', value);
      value.list.push(2);
      ((await store.get(ISSUER, 'client'))?.['list'] as number[] | undefined)?.push(3);
      checkEqual(await store.get(ISSUER, 'client'), { list: [1] }, 'What is found');
    },
  },
  {
    id: 'C1.5',
    title: 'deletes one key, or all keys of an issuer, and nothing of other issuers',
    async run({ store }) {
      for (const issuer of [ISSUER, 'https://other.example']) for (const key of ['client', 'tokens']) await store.put(issuer, key, { key });
      await store.delete(ISSUER, 'client');
      checkEqual(
        [await store.get(ISSUER, 'client'), await store.get(ISSUER, 'tokens')],
        [undefined, { key: 'tokens' }],
        'What is left of the issuer',
      );
      await store.delete(ISSUER);
      await store.delete('https://never.example');
      checkEqual(await store.get(ISSUER, 'tokens'), undefined, 'What is left of a deleted issuer');
      checkEqual(await store.get('https://other.example', 'client'), { key: 'client' }, 'What is left of another issuer');
    },
  },
  {
    id: 'C1.6',
    title: 'keeps the values of many concurrent puts',
    async run({ store, other = store }) {
      const keys = Array.from({ length: 20 }, (_, n) => `key ${n}`);
      await Promise.all(keys.map((key, n) => (n % 2 === 0 ? store : other).put(ISSUER, key, { key })));
      const found = await Promise.all(keys.map((key) => store.get(ISSUER, key)));
      checkEqual(
        found,
        keys.map((key) => ({ key })),
        'What is found',
      );
    },
  },
  {
    id: 'C2.1',
    title: 'runs one holder of a lock at a time',
    needs: ['locks'],
    async run({ store, other = store }) {
      let running = 0;
      let most = 0;
      const work = async (): Promise<void> => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < 5; turn++) await new Promise<void>((resolve) => setTimeout(resolve, 0));
        running--;
      };
      await Promise.all(Array.from({ length: 6 }, (_, n) => lockOf(n % 2 === 0 ? store : other)('refresh', work)));
      checkEqual(most, 1, 'The most that ran at once');
    },
  },
  {
    id: 'C2.2',
    title: "gives the holder's result, and releases the lock if the holder rejects",
    needs: ['locks'],
    async run({ store }) {
      const withLock = lockOf(store);
      const failure = await withLock('refresh', async () => {
        throw new Error('no');
      }).catch((error: unknown) => error);
      checkEqual((failure as Error).message, 'no', 'What a failing holder rejects with');
      checkEqual(await withLock('refresh', async () => 7), 7, 'What the next holder gives');
    },
  },
  {
    id: 'C2.3',
    title: 'lets holders of other locks run, and lets the holder use the store',
    needs: ['locks'],
    async run({ store }) {
      const withLock = lockOf(store);
      const inner = await withLock('one', async () => {
        await store.put(ISSUER, 'client', { id: 'inside' });
        return await withLock('two', async () => await store.get(ISSUER, 'client'));
      });
      checkEqual(inner, { id: 'inside' }, 'What the inner holder finds');
    },
  },
  {
    id: 'C2.4',
    title: 'stops waiting for a lock when the signal aborts, and does not run the holder',
    needs: ['locks'],
    async run({ store }) {
      const withLock = lockOf(store);
      const controller = new AbortController();
      let release = (): void => undefined;
      let hasRun = false;
      const isHeld = new Promise<void>((begun) => {
        void withLock('refresh', async () => {
          begun();
          await new Promise<void>((resolve) => (release = resolve));
        });
      });
      await isHeld;
      const waiting = withLock('refresh', async () => (hasRun = true), { signal: controller.signal }).catch((error: unknown) => error);
      controller.abort(new Error('gone'));
      checkEqual(((await waiting) as Error).message, 'gone', 'What the waiter rejects with');
      release();
      await withLock('refresh', async () => undefined);
      checkEqual(hasRun, false, 'Whether the waiter that left has run');
    },
  },
];
