/** Authorization servers and protected servers that answer nonsense, or never come to an end. ROBUSTNESS rules 8, 11, 12. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { clientCredentials, MemoryCredentialStore, oauth, redirectSignIn } from '@mortise/auth-oauth/client';
import { checkedFetch } from '@mortise/auth-oauth/node';
import { ask, createWorld, REDIRECT_URL, type World } from './support/world.ts';

let world: World;
let opened: URL[];
beforeEach(async () => {
  world = await createWorld();
  opened = [];
});
afterEach(async () => {
  await world.close();
});

/** A person who writes down where they are sent, and agrees there. */
function watched() {
  return redirectSignIn({
    redirectUrl: REDIRECT_URL,
    authorize: async (url) => {
      opened.push(url);
      return await world.as.agree(url);
    },
  });
}

const request = (): { method: string; url: string } => ({ method: 'POST', url: world.server.url });

/** What a server says that refuses one request. */
function challenge(status: number, attempt: number, text?: string) {
  return { status, attempt, url: world.server.url, header: (name: string) => (name === 'www-authenticate' ? text : undefined) };
}

/** The codes of errors, with `name` for one that has none: there must be none such. */
async function codeOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'resolved',
    (error: Error & { code?: string }) => error.code ?? error.name,
  );
}

describe('a token endpoint', () => {
  it.each([['-5'], ['1e400'], ['"NaN"'], ['null'], ['{}']])('that says expires_in %s gives no token', async (expiresIn) => {
    const body = `{"access_token":"x","token_type":"Bearer","expires_in":${expiresIn}}`;
    world.as.routes.set('/token', () => ({ headers: { 'content-type': 'application/json' }, body }));
    expect(await codeOf(world.authorizer().signIn())).toBe('ERR_TOKEN_REQUEST');
  });

  it('that gives a token for ever is believed, also by who reads it from the store', async () => {
    world.as.expiresIn = 1e308;
    const store = new MemoryCredentialStore();
    await world.authorizer({ store }).signIn();
    const again = await world.authorizer({ store }).headers(request());
    expect(again).toEqual({ authorization: `Bearer ${[...world.as.accessTokens.keys()].join()}` });
    expect(world.as.to('/token')).toHaveLength(1);
  });

  it('that stalls is given up', async () => {
    world.as.routes.set('/token', () => 'hang');
    expect(await codeOf(world.authorizer({ timeoutMs: 200 }).signIn())).toBe('ERR_AUTH_TIMEOUT');
  });

  it('whose answer has a megabyte of scopes gives the few that are some', async () => {
    const store = new MemoryCredentialStore();
    world.as.grantedScope = `${'a'.repeat(900_000)} read`;
    await world.authorizer({ store }).signIn();
    expect((await store.get(world.as.issuer, `tokens ${world.server.url}`))?.['scopes']).toEqual(['read']);
  });

  it.each([600, 999])('that answers with %i, which is no status, is named', async (status) => {
    for (const fetch of [undefined, checkedFetch(world.server.url)]) {
      world.as.routes.set('/token', (_request, response) => {
        response.socket?.end(`HTTP/1.1 ${status} Odd\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
        return 'hang';
      });
      await expect(world.authorizer({ fetch }).signIn()).rejects.toMatchObject({
        code: 'ERR_AUTH_NETWORK',
        message: `${world.as.origin}/token sent the status ${status}, which is not an HTTP status`,
      });
    }
  });

  it('is given up also by a fetch that does not listen to its signal', async () => {
    const deaf = (): Promise<Response> => new Promise(() => undefined);
    expect(await codeOf(ask(world.authorizer({ timeoutMs: 50, fetch: deaf }), world.server.url))).toBe('ERR_AUTH_TIMEOUT');
  });
});

describe('a registration endpoint', () => {
  it.each([
    ['an empty client_id', { client_id: '' }],
    ['a client_id of a megabyte', { client_id: 'x'.repeat(900_000) }],
    ['a secret of a megabyte', { client_id: 'x', client_secret: 's'.repeat(900_000), token_endpoint_auth_method: 'client_secret_basic' }],
  ])('that gives %s registers nobody', async (_, body) => {
    world.as.routes.set('/register', () => ({ status: 201, body }));
    expect(await codeOf(world.authorizer({ signIn: watched() }).signIn())).toBe('ERR_REGISTRATION');
    expect(opened).toEqual([]);
  });
});

describe('metadata', () => {
  const poison = [{ toString: 5 }, 'secret_of_theirs'];

  it('whose lists hold no text makes named errors', async () => {
    world.as.metadata = { token_endpoint_auth_methods_supported: poison };
    const client = { issuer: world.as.issuer, clientId: 'c', clientSecret: 's' };
    expect(await codeOf(clientCredentials(world.server.url, { client }).signIn())).toBe('ERR_CLIENT_MISMATCH');
    world.as.metadata = { dpop_signing_alg_values_supported: poison };
    expect(await codeOf(world.authorizer({ dpop: true }).signIn())).toBe('ERR_CLIENT_MISMATCH');
  });
});

describe('an authorization response', () => {
  it('is taken once by callers at once, and never again', async () => {
    const { as, server } = world;
    const pages: URL[] = [];
    const signIn = redirectSignIn({ redirectUrl: REDIRECT_URL, authorize: async (url) => void pages.push(url) });
    const authorizer = oauth(server.url, { signIn });
    expect(await codeOf(authorizer.signIn())).toBe('ERR_SIGN_IN_PENDING');
    const [page] = pages;
    const back = await as.agree(page ?? new URL('about:blank'));
    await Promise.all([authorizer.finishSignIn(back), authorizer.finishSignIn(back)]);
    expect(await codeOf(authorizer.finishSignIn(back))).toBe('ERR_STATE_MISMATCH');
    expect(as.to('/token')).toHaveLength(1);
  });

  it('that is no URL is refused by name', async () => {
    expect(await codeOf(world.authorizer().finishSignIn('nope'))).toBe('ERR_AUTHORIZATION_RESPONSE');
  });
});

describe('a server that refuses without end', () => {
  it('[AUTH-070] and names new scopes each time sends its user to sign in a bounded number of times', async () => {
    world.as.grantedScope = 'nothing';
    const authorizer = oauth(world.server.url, { signIn: watched() });
    await authorizer.signIn();
    const outcomes = new Map<string, number>();
    for (let n = 0; n < 60; n++) {
      const scopes = Array.from({ length: 100 }, (_, m) => `s${n}.${m}`).join(' ');
      const asked = authorizer.onChallenge(challenge(403, 1, `Bearer error="insufficient_scope", scope="${scopes}"`));
      const outcome = await codeOf(asked);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
    expect(Object.fromEntries(outcomes)).toEqual({ resolved: 50, ERR_INSUFFICIENT_SCOPE: 10 });
    const asked = opened.map((url) => url.searchParams.get('scope')?.split(' ').length ?? 0);
    expect(Math.max(...asked)).toBe(100);
  });

  it('[AUTH-070] and wants scopes one by one is asked for the newest beside those of before', async () => {
    world.as.grantedScope = 'nothing';
    const authorizer = oauth(world.server.url, { signIn: watched(), scopes: ['ours'] });
    await authorizer.signIn();
    for (let n = 0; n < 3; n++) {
      const scopes = Array.from({ length: 40 }, (_, m) => `s${n}.${m}`).join(' ');
      await authorizer.onChallenge(challenge(403, 1, `Bearer error="insufficient_scope", scope="${scopes}"`));
    }
    const scopes = opened.at(-1)?.searchParams.get('scope')?.split(' ') ?? [];
    expect(scopes).toEqual(expect.arrayContaining(['ours', 's0.39', 's1.0', 's1.39', 's2.0', 's2.39']));
    expect(scopes).toHaveLength(100);
  });

  it('and names another authorization server each time sends its user to one a call', async () => {
    const other = await world.addServer();
    const signIn = redirectSignIn({
      redirectUrl: REDIRECT_URL,
      authorize: async (url) => {
        opened.push(url);
        return await (url.origin === other.origin ? other : world.as).agree(url);
      },
    });
    const authorizer = oauth(world.server.url, { signIn });
    const outcomes: string[] = [];
    for (const attempt of [1, 2, 3]) {
      world.server.authorizationServer = attempt % 2 === 0 ? other : world.as;
      outcomes.push(await codeOf(authorizer.onChallenge(challenge(401, attempt))));
    }
    expect(outcomes).toEqual(['resolved', 'ERR_TOKEN_REJECTED', 'ERR_TOKEN_REJECTED']);
    expect(opened).toHaveLength(1);
  });
});

describe('a sign-in that its caller left', () => {
  /** Waits for the first person for ever, and for whoever comes later not at all. */
  function deafAtFirst(begun: () => void) {
    return redirectSignIn({
      redirectUrl: REDIRECT_URL,
      authorize: async (url) => {
        opened.push(url);
        begun();
        return opened.length === 1 ? await new Promise<never>(() => undefined) : await world.as.agree(url);
      },
    });
  }

  it('holds nobody up who comes later', async () => {
    const leaver = new AbortController();
    const { promise: hasBegun, resolve } = createGate();
    const authorizer = oauth(world.server.url, { signIn: deafAtFirst(resolve) });
    const first = authorizer.signIn({ signal: leaver.signal });
    await hasBegun;
    leaver.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    await authorizer.signIn();
    expect(opened).toHaveLength(2);
  });

  it('closes what waits for the person, though it begins to wait only then', async () => {
    const leaver = new AbortController();
    const [isBeginning, mayBegin, isClosed] = [createGate(), createGate(), createGate()];
    const signIn = {
      begin: async () => {
        isBeginning.resolve();
        await mayBegin.promise;
        return { redirectUrl: REDIRECT_URL, authorize: async () => undefined, close: async () => isClosed.resolve() };
      },
    };
    const signedIn = oauth(world.server.url, { signIn }).signIn({ signal: leaver.signal });
    await isBeginning.promise;
    leaver.abort(new Error('gone'));
    await expect(signedIn).rejects.toThrow('gone');
    mayBegin.resolve();
    await isClosed.promise;
  });

  it('does not tell the reason of one caller to another', async () => {
    const leaver = new AbortController();
    const { promise: hasBegun, resolve: begin } = createGate();
    const { promise: released, resolve: release } = createGate();
    let count = 0;
    // Its lock takes a while to be let go: the next caller comes in between.
    const store = Object.assign(new MemoryCredentialStore(), {
      withLock: async <T>(_name: string, fn: () => Promise<T>): Promise<T> => {
        try {
          return await fn();
        } finally {
          if (++count === 1) await released;
        }
      },
    });
    const authorizer = oauth(world.server.url, { signIn: deafAtFirst(begin), store });
    const first = authorizer.signIn({ signal: leaver.signal });
    await hasBegun;
    leaver.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    const second = authorizer.signIn();
    release();
    await second;
    expect(opened).toHaveLength(2);
  });
});

/** A promise and what resolves it. */
function createGate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve: () => resolve() };
}

it('a hundred calls at once, refused at once, take one sign-in', async () => {
  const authorizer = oauth(world.server.url, { signIn: watched() });
  const statuses = await Promise.all(Array.from({ length: 100 }, () => ask(authorizer, world.server.url)));
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect([opened.length, world.as.to('/token').length]).toEqual([1, 1]);
  world.server.refused.add([...world.as.accessTokens.keys()].join());
  await Promise.all(Array.from({ length: 100 }, () => ask(authorizer, world.server.url)));
  expect([opened.length, world.as.to('/token').length]).toEqual([1, 2]);
});
