import type { JsonObject } from '@mortise/jsonrpc-core';
import type { CredentialStore, LockingStore } from '@mortise/protocol/contracts';
import { credentialStoreCases } from '@mortise/transport-testkit/credential-store';
import { runCases } from '@mortise/transport-testkit';
import { describe, expect, it } from 'vitest';

/** A store that keeps every promise but those that a test takes from it. */
class Store implements CredentialStore, LockingStore {
  readonly records = new Map<string, JsonObject>();
  protected last: Promise<unknown> = Promise.resolve();

  toName(issuer: string, key: string): string {
    return JSON.stringify([issuer, key]);
  }

  async get(issuer: string, key: string): Promise<JsonObject | undefined> {
    return structuredClone(this.records.get(this.toName(issuer, key)));
  }

  async put(issuer: string, key: string, value: JsonObject): Promise<void> {
    this.records.set(this.toName(issuer, key), structuredClone(value));
  }

  async delete(issuer: string, key?: string): Promise<void> {
    for (const name of [...this.records.keys()]) {
      const [its, other] = JSON.parse(name) as [string, string];
      if (its === issuer && (key === undefined || key === other)) this.records.delete(name);
    }
  }

  async withLock<T>(_name: string, fn: () => Promise<T>, { signal }: { readonly signal?: AbortSignal } = {}): Promise<T> {
    signal?.throwIfAborted();
    return await fn();
  }
}

class NormalizingStore extends Store {
  override toName(issuer: string, key: string): string {
    return super.toName(URL.canParse(issuer) ? new URL(issuer).href : issuer, key);
  }
}

class SharingStore extends Store {
  override async get(issuer: string, key: string): Promise<JsonObject | undefined> {
    return this.records.get(this.toName(issuer, key));
  }
}

class MergingStore extends Store {
  override async put(issuer: string, key: string, value: JsonObject): Promise<void> {
    await super.put(issuer, key, { ...(await this.get(issuer, key)), ...value });
  }
}

class ForgetfulStore extends Store {
  override async delete(): Promise<void> {
    this.records.clear();
  }
}

async function failing(store: Store, traits: object = {}): Promise<readonly string[]> {
  const create = async () => {
    store.records.clear();
    return { store, close: async () => undefined };
  };
  const results = await runCases(credentialStoreCases, { create, traits: { ...traits } });
  return results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
}

describe('the kit of credential stores', () => {
  it('passes a store that keeps its promises', async () => {
    expect(await failing(new Store())).toEqual([]);
  });

  it.each([
    ['takes two spellings of an issuer for one', new NormalizingStore(), 'C1.1'],
    ['merges values', new MergingStore(), 'C1.3'],
    ['hands out what it keeps', new SharingStore(), 'C1.4'],
    ['deletes too much', new ForgetfulStore(), 'C1.5'],
  ])('fails a store that %s', async (_, store, id) => {
    expect(await failing(store)).toContain(id);
  });

  it('fails a lock that is none', async () => {
    expect(await failing(new Store(), { locks: true })).toEqual(expect.arrayContaining(['C2.1', 'C2.4']));
  });
});
