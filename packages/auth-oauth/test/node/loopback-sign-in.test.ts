import { request } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import { oauth } from '@mortise/auth-oauth/client';
import { loopbackSignIn, nodeOAuth } from '@mortise/auth-oauth/node';
import { ask, createWorld, type World } from '../support/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(async () => {
  await world.close();
});

/** A browser: follows where the authorization server sends it. */
const browse = async (url: URL): Promise<void> => {
  const answer = await fetch(url);
  await answer.text();
};

/** One raw request, with a Host header of its own. */
const get = (url: string, host?: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers: host === undefined ? {} : { host }, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', reject).end();
  });

describe('the loopback listener', () => {
  it('signs in through a browser, and is gone afterwards', async () => {
    const { as, server } = world;
    expect(await ask(nodeOAuth(server.url, { signIn: loopbackSignIn({ open: browse }) }), server.url)).toBe(200);
    const redirectUrl = as.to('/authorize')[0]?.query.get('redirect_uri') ?? '';
    expect(redirectUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    await expect(fetch(redirectUrl)).rejects.toThrow();
  });

  it('takes the port of its registration again', async () => {
    const { as, server } = world;
    const one = oauth(server.url, { signIn: loopbackSignIn({ open: browse }) });
    await one.signIn();
    await one.signIn();
    const [first, second] = as.to('/authorize').map(({ query }) => query.get('redirect_uri'));
    expect(second).toBe(first);
    expect(as.to('/register')).toHaveLength(1);
  });

  it('[AUTH-047] turns away answers to another sign-in, other paths, other methods and other hosts, and waits on', async () => {
    const { as, server } = world;
    const statuses: unknown[] = [];
    const open = async (url: URL): Promise<void> => {
      const back = url.searchParams.get('redirect_uri') ?? '';
      const state = url.searchParams.get('state') ?? '';
      statuses.push(await get(`${back}?code=injected&state=guessed`), await get(`${back}?code=injected`));
      statuses.push(await get(`${back}/other?code=injected&state=${state}`));
      statuses.push((await fetch(`${back}?code=injected&state=${state}`, { method: 'POST' })).status);
      statuses.push(await get(`${back}?code=injected&state=${state}`, 'rebound.example'));
      await browse(url);
    };
    expect(await ask(oauth(server.url, { signIn: loopbackSignIn({ open }) }), server.url)).toBe(200);
    expect(statuses).toEqual([400, 400, 404, 404, 404]);
    expect(as.to('/token').map(({ body }) => body['code'])).not.toContain('injected');
  });

  it('shows the person text that no markup can get into', async () => {
    const { server } = world;
    let page: Response | undefined;
    const open = async (url: URL): Promise<void> => {
      page = await fetch(url);
    };
    expect(await ask(oauth(server.url, { signIn: loopbackSignIn({ open }) }), server.url)).toBe(200);
    expect(page?.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(page?.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page?.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each([
    {
      what: 'that it was refused',
      response: { code: null, error: '<b>access_denied</b>' },
      says: 'The sign-in was refused. Go back to the program.',
    },
    { what: 'that it is done', response: {}, says: 'You can close this window and go back to the program.' },
  ])('shows the person who signed in $what, with nothing of the URL', async ({ response, says }) => {
    const { as, server } = world;
    as.response = response;
    let page: Promise<string> | undefined;
    const open = (url: URL): void => {
      page = fetch(url).then((answer) => answer.text());
    };
    await ask(oauth(server.url, { signIn: loopbackSignIn({ open }) }), server.url).catch(() => undefined);
    expect(await page).toBe(says);
  });

  it('waits no longer than it was told to', async () => {
    const { server } = world;
    const clock = new FakeClock();
    const signIn = loopbackSignIn({ open: () => clock.advance(1000), clock, timeoutMs: 1000 });
    await expect(ask(oauth(server.url, { signIn }), server.url)).rejects.toMatchObject({ code: 'ERR_SIGN_IN_TIMEOUT' });
  });

  it('does not wait for the way in which the page is opened: neither when the person is back, nor when their time is over', async () => {
    const { server } = world;
    const never = (): Promise<never> => new Promise(() => undefined);
    const stays = loopbackSignIn({ open: (url) => browse(url).then(never) });
    expect(await ask(oauth(server.url, { signIn: stays }), server.url)).toBe(200);
    const clock = new FakeClock();
    const goes = loopbackSignIn({ open: () => (clock.advance(1000), never()), clock, timeoutMs: 1000 });
    await expect(ask(oauth(server.url, { signIn: goes }), server.url)).rejects.toMatchObject({ code: 'ERR_SIGN_IN_TIMEOUT' });
  });

  it('says what kept the page from being opened', async () => {
    const signIn = loopbackSignIn({ open: () => Promise.reject(new Error('no display')) });
    await expect(oauth(world.server.url, { signIn }).signIn()).rejects.toThrow('no display');
  });
});
