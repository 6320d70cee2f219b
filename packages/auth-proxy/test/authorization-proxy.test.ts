import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '@mortise/jsonrpc-core/transport';
import { MemoryAuthorizationStore } from '../src/authorization-store.ts';
import { Browser } from './support/browser.ts';
import { ask, refusalOf } from './support/ask.ts';
import { FakeClock } from '@mortise/transport-testkit/fake-clock';
import {
  authorizeUrl,
  createWorld,
  obtain,
  post,
  PROXY,
  redeem,
  REDIRECT,
  refresh,
  register,
  RESOURCE,
  signIn,
  type World,
} from './support/proxy-world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const fetchPath = (path: string, init?: RequestInit) => world.proxy.fetch(new Request(PROXY + path, init));

describe('the authorization proxy', () => {
  it('[AUTH-020][AUTH-021][AUTH-046] publishes its metadata, with PKCE, issuer identification and client documents', async () => {
    const response = await fetchPath('/.well-known/oauth-authorization-server');
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await response.json()).toEqual({
      issuer: PROXY,
      authorization_endpoint: `${PROXY}/authorize`,
      token_endpoint: `${PROXY}/token`,
      revocation_endpoint: `${PROXY}/revoke`,
      registration_endpoint: `${PROXY}/register`,
      scopes_supported: ['files:read', 'files:write'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  });

  it('lies under the path of its issuer', async () => {
    world = await createWorld({ issuer: `${PROXY}/auth` });
    expect(world.proxy.metadata['token_endpoint']).toBe(`${PROXY}/auth/token`);
    expect((await fetchPath('/.well-known/oauth-authorization-server/auth')).status).toBe(200);
    expect([world.proxy.serves('/auth/token'), world.proxy.serves('/token'), world.proxy.serves('/mcp')]).toEqual([true, false, false]);
  });

  it('[AUTH-002][AUTH-008][AUTH-077] signs a person in at the provider and gives the client tokens of its own', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    expect([back.origin + back.pathname, back.searchParams.get('state')]).toEqual([REDIRECT, 'client-state']);
    const { status, body, headers } = await redeem(world, clientId, back);
    expect([status, headers.get('cache-control'), body['token_type'], body['expires_in'], body['scope']]).toEqual([
      200,
      'no-store',
      'Bearer',
      900,
      'files:read',
    ]);
    const info = await ask(world.proxy.verifier, String(body['access_token']));
    expect(info).toMatchObject({
      principal: JSON.stringify([PROXY, 'ada', clientId]),
      scopes: ['files:read'],
      resource: RESOURCE,
    });
    expect(JSON.stringify(body)).not.toContain('upstream');
    expect(await world.proxy.upstreamToken(info)).toBe('upstream-ada-1');
  });

  it('[AUTH-057] names itself in success and in error', async () => {
    const clientId = await register(world);
    const [good, denied] = [await signIn(world, authorizeUrl(clientId)), await signIn(world, authorizeUrl(await register(world)), 'deny')];
    expect([good.searchParams.get('iss'), denied.searchParams.get('iss')]).toEqual([PROXY, PROXY]);
    expect([denied.searchParams.get('error'), denied.searchParams.get('state')]).toEqual(['access_denied', 'client-state']);
  });

  it('tells the client when the provider was not allowed to', async () => {
    world.provider.refuses = true;
    const back = await signIn(world, authorizeUrl(await register(world)));
    expect([back.searchParams.get('error'), back.searchParams.get('code')]).toEqual(['access_denied', null]);
  });

  it('[AUTH-079][ROBUSTNESS-14] keeps no code, no token and no secret of anyone in readable form', async () => {
    const written: string[] = [];
    const store = new MemoryAuthorizationStore(systemClock);
    const put = store.put.bind(store);
    store.put = (key, value, expiresAtMs) => {
      written.push(key, JSON.stringify(value));
      return put(key, value, expiresAtMs);
    };
    world = await createWorld({ store });
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    const { body } = await redeem(world, clientId, back);
    expect(body['access_token']).toBeTypeOf('string');
    const secrets = [back.searchParams.get('code'), body['access_token'], body['refresh_token'], 'upstream-ada', 'upstream-refresh'];
    for (const secret of secrets) expect(written.join('\n')).not.toContain(secret);
  });

  it('answers with 404, 405, 413 and 415 what is not for it, and pages may call what programs call', async () => {
    const statuses = await Promise.all([
      fetchPath('/nothing').then(({ status }) => status),
      fetchPath('/token').then(({ status }) => status),
      post(world, '/token', '{}').then(({ status }) => status),
      post(world, '/register', JSON.stringify({ client_name: 'x'.repeat(70_000) })).then(({ status }) => status),
      fetchPath('/token', { method: 'OPTIONS' }).then(({ status }) => status),
      fetchPath('/consent', { method: 'OPTIONS' }).then(({ status }) => status),
    ]);
    expect(statuses).toEqual([404, 405, 415, 413, 204, 405]);
  });

  it('[AUTH-051] is at https addresses alone, but on this machine', async () => {
    await expect(createWorld({ issuer: 'http://mcp.example' })).rejects.toThrow(TypeError);
    expect((await createWorld({ issuer: 'http://127.0.0.1:1' })).proxy.metadata['token_endpoint']).toBe('http://127.0.0.1:1/token');
  });

  it.each([{ secret: 'short' }, { issuer: 'https://mcp.example?x' }, { identify: undefined }])(
    'refuses the options %j at once',
    async (options) => {
      await expect(createWorld(options as never)).rejects.toThrow(TypeError);
    },
  );
});

describe('an authorization request', () => {
  it.each([
    { what: 'a redirect URI that is longer', redirect: `${REDIRECT}/more` },
    { what: 'a redirect URI with a query', redirect: `${REDIRECT}?x=1` },
    { what: 'a redirect URI in other case', redirect: 'https://APP.example/cb' },
    { what: 'another redirect URI', redirect: 'https://attacker.example/cb' },
    { what: 'no redirect URI', redirect: undefined },
  ])('[AUTH-049][SEC-016] with $what is shown to the person and sent nowhere', async ({ redirect }) => {
    const page = await world.browser.get(authorizeUrl(await register(world), { redirect_uri: redirect }));
    expect([page.status, page.location, page.text.includes('attacker')]).toEqual([400, undefined, false]);
  });

  it.each([
    { registered: 'http://127.0.0.1/cb', asked: 'http://127.0.0.1:4711/cb', status: 200 },
    { registered: 'http://[::1]/cb', asked: 'http://[::1]:4711/cb', status: 200 },
    { registered: 'http://127.0.0.1/cb', asked: 'http://127.0.0.1:4711/cb2', status: 400 },
    { registered: 'http://127.0.0.1/cb', asked: 'http://localhost:4711/cb', status: 400 },
    { registered: 'http://127.0.0.1/cb', asked: 'http://127.0.0.1:4711@evil.example/cb', status: 400 },
    { registered: 'http://127.0.0.1/cb', asked: 'http://127.0.0.1:99999/cb', status: 400 },
    { registered: 'http://127.0.0.1:1/cb', asked: 'http://127.0.0.1:4711/cb', status: 400 },
    { registered: 'https://app.example/cb', asked: 'https://app.example:4711/cb', status: 400 },
  ])(
    '[SEC-016] may name a port where the client registered $registered: $asked is answered with $status',
    async ({ registered, asked, status }) => {
      const page = await world.browser.get(authorizeUrl(await register(world, registered), { redirect_uri: asked }));
      expect(page.status).toBe(status);
    },
  );

  it('of a client that nobody knows is sent nowhere', async () => {
    const page = await world.browser.get(authorizeUrl('nobody'));
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  it.each([
    { what: 'without PKCE', more: { code_challenge: undefined, code_challenge_method: undefined }, error: 'invalid_request' },
    { what: 'with the method plain', more: { code_challenge_method: 'plain' }, error: 'invalid_request' },
    { what: 'with a challenge that is none', more: { code_challenge: 'x' }, error: 'invalid_request' },
    { what: 'for another resource', more: { resource: 'https://other.example/mcp' }, error: 'invalid_target' },
    { what: 'for a scope that is not offered', more: { scope: 'admin' }, error: 'invalid_scope' },
    { what: 'for a token without a code', more: { response_type: 'token' }, error: 'unsupported_response_type' },
  ])('[AUTH-043] $what is refused to the client', async ({ more, error }) => {
    const { location } = await world.browser.get(authorizeUrl(await register(world), more));
    expect([location?.origin, location?.searchParams.get('error'), location?.searchParams.get('iss')]).toEqual([
      'https://app.example',
      error,
      PROXY,
    ]);
  });

  it('with a parameter twice is refused', async () => {
    const url = authorizeUrl(await register(world));
    url.searchParams.append('scope', 'files:write');
    expect((await world.browser.get(url)).location?.searchParams.get('error')).toBe('invalid_request');
  });

  it('without scope and resource, as older clients send it, asks for all that is offered', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId, { scope: undefined, resource: undefined }));
    expect((await redeem(world, clientId, back)).body['scope']).toBe('files:read files:write');
  });
});

describe('the consent page', () => {
  it('[SEC-013] comes before the browser is sent to the provider, for each client', async () => {
    for (const clientId of [await register(world), await register(world)]) {
      const page = await world.browser.get(authorizeUrl(clientId));
      expect([page.status, page.location]).toEqual([200, undefined]);
      expect((await world.browser.press(page, PROXY, 'allow')).location?.host).toBe('provider.example');
    }
  });

  it('[SEC-014][AUTH-038] shows who asks, for what at the provider, and where the answer goes', async () => {
    const { text } = await world.browser.get(authorizeUrl(await register(world)));
    for (const shown of [
      'The App',
      'profile',
      'files.read',
      'files:read',
      REDIRECT,
      '<strong>app.example</strong>',
      'The Provider',
      'Example Files',
    ])
      expect(text).toContain(shown);
  });

  it('[AUTH-038] warns where the answer goes to a program on the same machine', async () => {
    const local = 'http://127.0.0.1:4711/cb';
    const { text } = await world.browser.get(authorizeUrl(await register(world, local), { redirect_uri: local }));
    expect(text).toMatch(/class="warning".*this computer.*127\.0\.0\.1:4711/s);
  });

  it('[SEC-014] cannot be framed, runs nothing, and is kept by nobody', async () => {
    const { headers } = await world.browser.get(authorizeUrl(await register(world)));
    expect([headers.get('x-frame-options'), headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  });

  it('shows a name that is markup as text', async () => {
    const clientId = await register(world, REDIRECT, { client_name: '<script>alert(1)</script>"\'&' });
    const { text } = await world.browser.get(authorizeUrl(clientId));
    expect([text.includes('<script>'), text.includes('&#60;script&#62;alert(1)&#60;/script&#62;&#34;&#39;&#38;')]).toEqual([false, true]);
  });

  it('[SEC-014] shows characters of a name that are invisible or turn others around', async () => {
    const clientId = await register(world, REDIRECT, { client_name: 'gnp.\u202Eexe\u200B\n\u{E0041}' });
    const { text } = await world.browser.get(authorizeUrl(clientId));
    expect(text).toContain('<em>gnp.\\u{202e}exe\\u{200b}\\u{a}\\u{e0041}</em>');
    expect(text).toContain('<title>Allow gnp.\\u{202e}exe');
  });

  it('[SEC-014] takes an answer from the browser that was asked alone', async () => {
    const page = await world.browser.get(authorizeUrl(await register(world)));
    const { browser: other } = await createWorld();
    const stolen = (await createWorld()).browser;
    stolen.cookiesOf('mcp.example').set('__Host-mortise-csrf', 'A'.repeat(43));
    const answers = [
      await world.browser.press(page, PROXY, 'allow', { origin: 'https://evil.example' }),
      await world.browser.press(page, PROXY, 'allow', { 'sec-fetch-site': 'cross-site' }),
      await world.browser.press({ ...page, text: page.text.replace(/name="request" value="./, 'name="request" value="X') }, PROXY, 'allow'),
      await other.press(page, PROXY, 'allow'),
      await stolen.press(page, PROXY, 'allow'),
    ];
    expect(answers.map(({ status, location }) => [status, location])).toEqual(answers.map(() => [403, undefined]));
    world.clock.advance(11 * 60_000);
    expect((await world.browser.press(page, PROXY, 'allow')).status).toBe(403);
  });

  it('[SEC-015] remembers consent in a cookie of this host alone, signed and bound to the client', async () => {
    const page = await world.browser.get(authorizeUrl(await register(world)));
    const { headers } = await world.browser.press(page, PROXY, 'allow');
    const cookies = headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) expect(cookie).toMatch(/^__Host-[\w-]+=[\w.-]+; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
  });

  it('[SEC-015] is left out for the very same consent, and for nothing else', async () => {
    const clientId = await register(world, REDIRECT, { redirect_uris: [REDIRECT, `${REDIRECT}2`] });
    await signIn(world, authorizeUrl(clientId));
    const statusOf = async (url: URL) => (await world.browser.get(url)).status;
    expect(await statusOf(authorizeUrl(clientId))).toBe(303);
    expect(await statusOf(authorizeUrl(clientId, { scope: 'files:read files:write' }))).toBe(200);
    expect(await statusOf(authorizeUrl(clientId, { redirect_uri: `${REDIRECT}2` }))).toBe(200);
    expect(await statusOf(authorizeUrl(await register(world)))).toBe(200);
    const jar = world.browser.cookiesOf('mcp.example');
    const value = jar.get('__Host-mortise-consent') ?? '';
    jar.set('__Host-mortise-consent', `${value.startsWith('e') ? 'f' : 'e'}${value.slice(1)}`);
    expect(await statusOf(authorizeUrl(clientId))).toBe(200);
    jar.set('__Host-mortise-consent', value);
    world.clock.advance(31 * 86_400_000);
    expect(await statusOf(authorizeUrl(await register(world)))).toBe(200);
  });

  it('is shown every time for a program on the same machine', async () => {
    const local = 'http://localhost:4711/cb';
    const clientId = await register(world, local);
    const url = authorizeUrl(clientId, { redirect_uri: local });
    await signIn(world, url);
    expect((await world.browser.get(url)).status).toBe(200);
  });
});

describe('the state between the proxy and its provider', () => {
  it('[SEC-017] exists only after consent, and only in the browser', async () => {
    const kinds = new Set<string>();
    const store = new MemoryAuthorizationStore(systemClock);
    const put = store.put.bind(store);
    store.put = (key, value, expiresAtMs) => {
      kinds.add(key.split(':')[0] ?? '');
      return put(key, value, expiresAtMs);
    };
    world = await createWorld({ store });
    const page = await world.browser.get(authorizeUrl(await register(world)));
    expect([...kinds]).toEqual(['client']);
    expect([...world.browser.cookiesOf('mcp.example').keys()]).toEqual(['__Host-mortise-csrf']);
    await world.browser.press(page, PROXY, 'allow');
    expect([...kinds]).toEqual(['client']);
    expect([...world.browser.cookiesOf('mcp.example').keys()]).toContainEqual(expect.stringMatching(/^__Host-mortise-flow-[\w-]{16}$/));
  });

  it('[ROBUSTNESS-18] of others stays however often somebody posts one consent, which is good for one sign-in', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    world = await createWorld({ store: new MemoryAuthorizationStore(clock, 5), clock });
    const pending = await untilAnswer();
    const other = new Browser({ 'mcp.example': world.proxy.fetch, 'provider.example': world.provider.browse });
    const clientId = await register(world);
    const page = await other.get(authorizeUrl(clientId));
    const forwarded = [];
    for (let n = 0; n < 50; n++) forwarded.push(await other.press(page, PROXY, 'allow'));
    expect(forwarded.map(({ status }) => status)).toEqual(forwarded.map(() => 303));
    expect((await world.browser.get(pending)).location?.searchParams.get('code')).toBeTypeOf('string');
    const answers = [];
    for (const { location } of forwarded.slice(-2)) answers.push((await other.get(location ?? '')).location ?? '');
    expect((await other.get(answers[0] ?? '')).location?.searchParams.get('code')).toBeTypeOf('string');
    const second = await other.get(answers[1] ?? '');
    expect([second.status, second.location]).toEqual([400, undefined]);
    expect(second.text).toContain('This consent was used for a sign-in before');
  });

  it('[ROBUSTNESS-18] takes a bounded part of the headers that a browser sends: the oldest sign-in in progress gives way', async () => {
    const clientId = await register(world);
    const begin = async (): Promise<URL> => {
      const page = await world.browser.get(authorizeUrl(clientId, { state: 's'.repeat(1_024) }));
      const forwarded = await world.browser.press(page, PROXY, 'allow');
      return (await world.browser.get(forwarded.location ?? '')).location ?? new URL(PROXY);
    };
    const oldest = await begin();
    let newest = oldest;
    const jar = world.browser.cookiesOf('mcp.example');
    jar.delete('__Host-mortise-consent');
    for (let n = 0; n < 20; n++) {
      newest = await begin();
      jar.delete('__Host-mortise-consent');
    }
    expect(Array.from(jar, ([name, value]) => `${name}=${value}; `).join('').length).toBeLessThan(9_000);
    expect((await world.browser.get(oldest)).status).toBe(400);
    expect((await world.browser.get(newest)).location?.searchParams.get('code')).toBeTypeOf('string');
  });

  it('[ROBUSTNESS-7] is refused to a client whose request no cookie can hold', async () => {
    const long = `${REDIRECT}?${'x'.repeat(3_000)}`;
    const page = await world.browser.get(authorizeUrl(await register(world, long), { redirect_uri: long }));
    const { location } = await world.browser.press(page, PROXY, 'allow');
    expect([location?.origin, location?.searchParams.get('error')]).toEqual(['https://app.example', 'invalid_request']);
    const tooLong = await world.browser.get(authorizeUrl(await register(world), { state: 's'.repeat(1_025) }));
    expect(tooLong.location?.searchParams.get('error')).toBe('invalid_request');
  });

  /** Up to the provider's answer, which is not delivered yet. */
  async function untilAnswer(): Promise<URL> {
    const page = await world.browser.get(authorizeUrl(await register(world)));
    const forwarded = await world.browser.press(page, PROXY, 'allow');
    const { location } = await world.browser.get(forwarded.location ?? '');
    if (location === undefined) throw new Error('no answer');
    return location;
  }

  it('[SEC-017] is good once, in the browser that began, for ten minutes', async () => {
    const answer = await untilAnswer();
    const { browser: other } = await createWorld();
    expect(await other.get(answer).catch(() => ({ status: 0 }))).toMatchObject({ status: 400 });
    const stranger = await world.proxy.fetch(new Request(answer));
    expect([stranger.status, stranger.headers.get('location')]).toEqual([400, null]);
    expect((await world.browser.get(answer)).location?.searchParams.get('code')).toBeTypeOf('string');
    expect((await world.browser.get(answer)).status).toBe(400);
    const late = await untilAnswer();
    world.clock.advance(10 * 60_000);
    expect((await world.browser.get(late)).status).toBe(400);
  });

  it.each(['', 'x', 'A'.repeat(43)])('[SEC-017] made up as %j is refused', async (state) => {
    const answer = await untilAnswer();
    answer.searchParams.set('state', state);
    expect((await world.browser.get(answer)).status).toBe(400);
  });

  it('is of no use with the answer of another issuer', async () => {
    const answer = await untilAnswer();
    answer.searchParams.set('iss', 'https://evil.example');
    expect((await world.browser.get(answer)).location?.searchParams.get('error')).toBe('server_error');
    expect(world.provider.forms).toEqual([]);
  });

  it('is of no use with the code of another sign-in', async () => {
    const [one, other] = [await untilAnswer(), await untilAnswer()];
    one.searchParams.set('code', other.searchParams.get('code') ?? '');
    expect((await world.browser.get(one)).location?.searchParams.get('error')).toBe('server_error');
  });
});

describe('the attack of a freshly registered client', () => {
  it('[SEC-013] gets no code while the consent cookies of its victim live, here and at the provider', async () => {
    const honest = await register(world);
    await obtain(world, honest);
    expect(world.provider.consents).toBe(1);
    const evil = await register(world, 'https://attacker.example/cb', { client_name: 'The App' });
    const page = await world.browser.get(authorizeUrl(evil, { redirect_uri: 'https://attacker.example/cb' }));
    expect([page.status, page.location]).toEqual([200, undefined]);
    expect(page.text).toContain('<strong>attacker.example</strong>');
    // What the provider would have done had the browser come: sent it back without a question.
    expect((await world.browser.get(`https://provider.example/authorize?redirect_uri=${PROXY}/callback&state=x`)).location?.host).toBe(
      'mcp.example',
    );
    expect(world.provider.consents).toBe(1);
  });

  it("[SEC-013][SEC-016] gets no code by the honest client's id with its own redirect", async () => {
    const honest = await register(world);
    await obtain(world, honest);
    const page = await world.browser.get(authorizeUrl(honest, { redirect_uri: 'https://attacker.example/cb' }));
    expect([page.status, page.location]).toEqual([400, undefined]);
  });
});

describe('the token endpoint', () => {
  it('[AUTH-043] wants the verifier of the challenge, and ends the code with a wrong one', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    expect(await redeem(world, clientId, back, { code_verifier: 'x'.repeat(43) })).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    expect(await redeem(world, clientId, back)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(await redeem(world, clientId, back, { code_verifier: '' })).toMatchObject({ status: 400, body: { error: 'invalid_request' } });
  });

  it('takes a code once, and ends what it gave when it comes again', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    const { body } = await redeem(world, clientId, back);
    const token = String(body['access_token']);
    await ask(world.proxy.verifier, token);
    expect(await redeem(world, clientId, back)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await refusalOf(world.proxy.verifier, token)).status).toBe(401);
    expect(await refresh(world, clientId, body['refresh_token'])).toMatchObject({ status: 400 });
  });

  it('gives a code to one of many at once', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    const answers = await Promise.all(Array.from({ length: 5 }, () => redeem(world, clientId, back)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it.each([
    { what: 'another redirect URI', more: { redirect_uri: `${REDIRECT}2` }, error: 'invalid_grant' },
    { what: 'another resource', more: { resource: 'https://other.example' }, error: 'invalid_target' },
    { what: 'another grant type', more: { grant_type: 'password' }, error: 'unsupported_grant_type' },
    { what: 'a made-up code', more: { code: 'x' }, error: 'invalid_grant' },
  ])('refuses $what', async ({ more, error }) => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    expect(await redeem(world, clientId, back, more)).toMatchObject({ status: 400, body: { error } });
  });

  it('gives a code to nobody but the client it was made for, and after a minute to nobody', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    expect(await redeem(world, await register(world), back)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const late = await signIn(world, authorizeUrl(clientId));
    world.clock.advance(60_000);
    expect(await redeem(world, clientId, late)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
  });

  it('[AUTH-080] gives short-lived tokens and a new refresh token each time; a used one ends the grant', async () => {
    const clientId = await register(world);
    const first = await obtain(world, clientId);
    const second = (await refresh(world, clientId, first['refresh_token'])).body;
    expect(second['refresh_token']).not.toBe(first['refresh_token']);
    world.clock.advance(15 * 60_000);
    expect((await refusalOf(world.proxy.verifier, String(second['access_token']))).status).toBe(401);
    const third = (await refresh(world, clientId, second['refresh_token'])).body;
    expect((await ask(world.proxy.verifier, String(third['access_token']))).subject).toBe('ada');
    expect(await refresh(world, clientId, first['refresh_token'])).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await refusalOf(world.proxy.verifier, String(third['access_token']))).status).toBe(401);
    expect(await refresh(world, clientId, third['refresh_token'])).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect(world.provider.revoked).toHaveLength(1);
  });

  it('[ROBUSTNESS-18] forgets no token of others, used or not, however often one client asks for new ones', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    world = await createWorld({ store: new MemoryAuthorizationStore(clock, 5), clock });
    const clientId = await register(world);
    const first = await obtain(world, clientId);
    const second = (await refresh(world, clientId, first['refresh_token'])).body;
    const greedy = await register(world);
    let { refresh_token: token } = await obtain(world, greedy);
    for (let n = 0; n < 20; n++) ({ refresh_token: token } = (await refresh(world, greedy, token)).body);
    expect((await ask(world.proxy.verifier, String(second['access_token']))).subject).toBe('ada');
    expect(await refresh(world, clientId, first['refresh_token'])).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    expect((await refusalOf(world.proxy.verifier, String(second['access_token']))).status).toBe(401);
  });

  it('[SEC-005] takes an access token, a refresh token and a code each for what it is alone', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId));
    const code = back.searchParams.get('code') ?? '';
    const { access_token: access, refresh_token: token } = await obtain(world, clientId);
    for (const other of [code, String(token)]) expect((await refusalOf(world.proxy.verifier, other)).status).toBe(401);
    for (const other of [code, access]) expect((await refresh(world, clientId, other)).status).toBe(400);
    for (const other of [token, access]) expect((await redeem(world, clientId, back, { code: String(other) })).status).toBe(400);
    const elsewhere = await createWorld({ issuer: `${PROXY}/other`, store: world.store, clock: world.clock });
    expect((await refusalOf(elsewhere.proxy.verifier, String(access))).status).toBe(401);
    expect((await ask(world.proxy.verifier, String(access))).subject).toBe('ada');
  });

  it('keeps a grant for ten years that is to have no end, for a cookie takes no other word than a number', async () => {
    const endless = await createWorld({ grantMs: Infinity });
    const page = await endless.browser.get(authorizeUrl(await register(endless)));
    const cookies = (await endless.browser.press(page, PROXY, 'allow')).headers.getSetCookie();
    expect(cookies.filter((cookie) => /; Max-Age=\d+;/.test(cookie))).toHaveLength(2);
    const clientId = await register(endless);
    const tokens = await obtain(endless, clientId);
    expect(tokens['expires_in']).toBe(15 * 60);
    // Until then the client's registration, which lasts a year, must be used now and then.
    endless.clock.advance(300 * 24 * 3_600_000);
    expect((await refresh(endless, clientId, tokens['refresh_token'])).status).toBe(200);
  });

  it.each([
    { what: 'cannot be reached', answer: () => Promise.reject(new TypeError('fetch failed')) },
    { what: 'is busy', answer: () => Response.json({ error: 'temporarily_unavailable' }, { status: 400 }) },
  ])('keeps a sign-in, and the refresh token it was asked with, while the provider $what', async ({ answer }) => {
    let isAway = false;
    const world = await createWorld({
      fetch: async (...args) => (isAway && String(args[0]).endsWith('/token') ? answer() : world.provider.fetch(...args)),
    });
    const clientId = await register(world);
    const { refresh_token: token } = await obtain(world, clientId);
    world.clock.advance(60 * 60_000);
    isAway = true;
    expect(await refresh(world, clientId, token)).toMatchObject({ status: 500, body: { error: 'server_error' } });
    isAway = false;
    expect((await refresh(world, clientId, token)).status).toBe(200);
  });

  it('refreshes for fewer scopes, never for more, and never for another client', async () => {
    const clientId = await register(world);
    const back = await signIn(world, authorizeUrl(clientId, { scope: 'files:read files:write' }));
    const { body } = await redeem(world, clientId, back);
    expect(await refresh(world, await register(world), body['refresh_token'])).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    const less = await refresh(world, clientId, body['refresh_token'], { scope: 'files:read' });
    expect(less.body['scope']).toBe('files:read');
    expect(await refresh(world, clientId, less.body['refresh_token'], { scope: 'admin' })).toMatchObject({
      body: { error: 'invalid_scope' },
    });
  });

  it("[AUTH-008] renews the provider's token, and ends the grant when the provider has", async () => {
    const clientId = await register(world);
    const first = await obtain(world, clientId);
    world.clock.advance(3_600_000);
    const second = (await refresh(world, clientId, first['refresh_token'])).body;
    const info = await ask(world.proxy.verifier, String(second['access_token']));
    expect(await world.proxy.upstreamToken(info)).toBe('upstream-ada-2');
    world.clock.advance(3_600_000);
    world.provider.refuses = true;
    expect(await refresh(world, clientId, second['refresh_token'])).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    await expect(world.proxy.upstreamToken(info)).rejects.toMatchObject({ code: 'ERR_OAUTH_REFUSED', error: 'invalid_grant' });
  });

  it('wants the secret of a client that has one, in the header or in the body', async () => {
    const { body: client } = await post(world, '/register', JSON.stringify({ client_name: 'C', redirect_uris: [REDIRECT] }));
    const [clientId, secret] = [String(client['client_id']), String(client['client_secret'])];
    const basic = (value: string) => ({ authorization: `Basic ${btoa(`${clientId}:${value}`)}` });
    const form = { grant_type: 'refresh_token', refresh_token: 'x' };
    const answers = [
      await post(world, '/token', { ...form, client_id: clientId }),
      await post(world, '/token', { ...form, client_id: clientId, client_secret: 'wrong' }),
      await post(world, '/token', form, basic('wrong')),
      await post(world, '/token', form, { authorization: 'Basic !' }),
      await post(world, '/token', form, basic(secret)),
      await post(world, '/token', { ...form, client_id: clientId, client_secret: secret }),
    ];
    expect(answers.map(({ status, body }) => [status, body['error']])).toEqual([
      ...Array.from({ length: 4 }, () => [401, 'invalid_client']),
      [400, 'invalid_grant'],
      [400, 'invalid_grant'],
    ]);
  });
});

describe('revocation', () => {
  it.each(['access_token', 'refresh_token'])('by the %s ends the grant, here and at the provider', async (kind) => {
    const clientId = await register(world);
    const tokens = await obtain(world, clientId);
    expect((await post(world, '/revoke', { token: String(tokens[kind]), client_id: clientId })).status).toBe(200);
    expect((await refusalOf(world.proxy.verifier, String(tokens['access_token']))).status).toBe(401);
    expect((await refresh(world, clientId, tokens['refresh_token'])).status).toBe(400);
    expect(world.provider.revoked).toEqual(['upstream-refresh-1']);
  });

  it('tells a stranger nothing and ends nothing', async () => {
    const tokens = await obtain(world, await register(world));
    const stranger = await register(world);
    for (const token of [String(tokens['access_token']), 'made up'])
      expect((await post(world, '/revoke', { token, client_id: stranger })).status).toBe(200);
    expect((await ask(world.proxy.verifier, String(tokens['access_token']))).subject).toBe('ada');
  });
});

describe('registration', () => {
  it('[AUTH-028][AUTH-029] gives a public client an id, and one with a secret its secret once', async () => {
    const open = await post(
      world,
      '/register',
      JSON.stringify({ client_name: 'A', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' }),
    );
    expect([open.status, open.body['client_secret'], open.body['token_endpoint_auth_method']]).toEqual([201, undefined, 'none']);
    const closed = await post(world, '/register', JSON.stringify({ redirect_uris: [REDIRECT] }));
    expect([closed.body['client_secret'], closed.body['token_endpoint_auth_method']]).toEqual([expect.any(String), 'client_secret_basic']);
  });

  it.each([
    'http://app.example/cb',
    'https://app.example/cb#x',
    'https://user@app.example/cb',
    'https://*.example/cb',
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'app:/cb',
    '/cb',
    'https://app.example\\@evil.example/',
    'http://localhost.evil.example/',
  ])('[AUTH-049][AUTH-050] refuses the redirect URI %s', async (uri) => {
    const { status, body } = await post(world, '/register', JSON.stringify({ redirect_uris: [uri] }));
    expect([status, body['error']]).toEqual([400, 'invalid_redirect_uri']);
  });

  it.each(['https://app.example/cb?x=1', 'http://localhost:1234/cb', 'http://127.0.0.1/cb', 'http://[::1]:1/cb'])(
    '[AUTH-050] takes the redirect URI %s',
    async (uri) => {
      expect((await post(world, '/register', JSON.stringify({ redirect_uris: [uri] }))).status).toBe(201);
    },
  );

  it('takes the schemes of installed programs that the program names', async () => {
    world = await createWorld({ privateSchemes: ['cursor'] });
    const statusOf = async (uri: string) => (await post(world, '/register', JSON.stringify({ redirect_uris: [uri] }))).status;
    expect([await statusOf('cursor://app/cb'), await statusOf('other://app/cb')]).toEqual([201, 400]);
  });

  it('[ROBUSTNESS-7] refuses redirect URIs of more than 4,096 characters in all, though each may be long', async () => {
    const [first, second] = ['a', 'b'].map((name) => `${REDIRECT}?${name.repeat(2_000)}`);
    const statusOf = async (length: number) => {
      const third = REDIRECT.padEnd(length - 2 * `${first}`.length, '/');
      return (await post(world, '/register', JSON.stringify({ redirect_uris: [first, second, third] }))).status;
    };
    expect([await statusOf(4_096), await statusOf(4_097)]).toEqual([201, 400]);
  });

  it('[AUTH-031] refuses a web application that lives on this machine, saying why', async () => {
    const metadata = { application_type: 'web', redirect_uris: ['http://localhost:1/cb'] };
    const { status, body } = await post(world, '/register', JSON.stringify(metadata));
    expect([status, body['error'], body['error_description']]).toEqual([400, 'invalid_redirect_uri', expect.stringContaining('native')]);
  });

  it.each([
    [],
    'x',
    { redirect_uris: [] },
    { redirect_uris: [REDIRECT], grant_types: ['password'] },
    { redirect_uris: [REDIRECT], client_name: 7 },
  ])('refuses %j', async (metadata) => {
    expect((await post(world, '/register', typeof metadata === 'string' ? metadata : JSON.stringify(metadata))).status).toBe(400);
  });

  it('[ROBUSTNESS-8][ROBUSTNESS-18] is bounded, and never pushes out a client that somebody signed in with, also after a consent', async () => {
    const clock = new FakeClock(1_800_000_000_000);
    world = await createWorld({ store: new MemoryAuthorizationStore(clock, 5), clock });
    const used = await register(world);
    const { refresh_token: refreshToken } = await obtain(world, used);
    const first = await register(world);
    for (let n = 0; n < 20; n++) {
      const page = await world.browser.get(authorizeUrl(await register(world)));
      await world.browser.press(page, PROXY, 'allow');
    }
    expect((await world.browser.get(authorizeUrl(first))).status).toBe(400);
    expect((await refresh(world, used, refreshToken)).status).toBe(200);
  });

  it('may be turned off, and then is not told of', async () => {
    world = await createWorld({ registration: false, clients: [{ clientId: 'known', name: 'Known', redirectUris: [REDIRECT] }] });
    expect([world.proxy.metadata['registration_endpoint'], (await post(world, '/register', '{}')).status]).toEqual([undefined, 404]);
    expect((await obtain(world, 'known'))['access_token']).toBeTypeOf('string');
  });

  it('ends after a day for a client that nobody has signed in with', async () => {
    const clientId = await register(world);
    world.clock.advance(86_400_000);
    expect((await world.browser.get(authorizeUrl(clientId))).status).toBe(400);
  });
});

describe('a client id that is a URL', () => {
  const ID = 'https://app.example/client.json';
  const DOCUMENT = { client_id: ID, client_name: 'Documented', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' };
  let asked: string[];

  /** @param answer What is at the client's address. */
  async function createDocumentWorld(answer: () => Response): Promise<void> {
    asked = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      const url = String(input);
      if (url.startsWith('https://provider.example')) return world.provider.fetch(input, init);
      asked.push(url);
      return Promise.resolve(answer());
    };
    world = await createWorld({ fetch });
  }

  it('[AUTH-032][AUTH-036][AUTH-039] is looked up, shown by its host, and needs no registration', async () => {
    await createDocumentWorld(() => Response.json(DOCUMENT));
    const { text } = await world.browser.get(authorizeUrl(ID));
    expect([text.includes('Documented'), text.includes('<code>app.example</code>')]).toEqual([true, true]);
    expect((await obtain(world, ID))['access_token']).toBeTypeOf('string');
  });

  it('[AUTH-037] is fetched once for as long as its headers allow', async () => {
    await createDocumentWorld(() => Response.json(DOCUMENT, { headers: { 'cache-control': 'max-age=60' } }));
    await obtain(world, ID);
    expect(asked).toHaveLength(1);
    world.clock.advance(60_000);
    await world.browser.get(authorizeUrl(ID));
    expect(asked).toHaveLength(2);
    await createDocumentWorld(() => Response.json(DOCUMENT, { headers: { 'cache-control': 'no-store' } }));
    await world.browser.get(authorizeUrl(ID));
    await world.browser.get(authorizeUrl(ID));
    expect(asked).toHaveLength(2);
  });

  it.each<{ readonly what: string; readonly answer: () => Response }>([
    { what: 'names another client', answer: () => Response.json({ ...DOCUMENT, client_id: `${ID}?x` }) },
    { what: 'has no name', answer: () => Response.json({ ...DOCUMENT, client_name: undefined }) },
    { what: 'has no redirect URIs', answer: () => Response.json({ ...DOCUMENT, redirect_uris: undefined }) },
    { what: 'has one that may not be', answer: () => Response.json({ ...DOCUMENT, redirect_uris: ['javascript:x'] }) },
    { what: 'wants a shared secret', answer: () => Response.json({ ...DOCUMENT, token_endpoint_auth_method: 'client_secret_post' }) },
    { what: 'is no JSON', answer: () => new Response('{', { headers: { 'content-type': 'application/json' } }) },
    { what: 'is a page', answer: () => new Response('{}', { headers: { 'content-type': 'text/html' } }) },
    { what: 'is too long', answer: () => Response.json({ ...DOCUMENT, more: 'x'.repeat(70_000) }) },
    { what: 'is not there', answer: () => new Response('', { status: 404 }) },
    { what: 'is elsewhere', answer: () => new Response(null, { status: 302, headers: { location: 'https://other.example/' } }) },
  ])('[AUTH-036] is refused where its document $what', async ({ answer }) => {
    await createDocumentWorld(answer);
    const page = await world.browser.get(authorizeUrl(ID));
    expect([page.status, page.location]).toEqual([400, undefined]);
  });

  it('[AUTH-036] is refused with a redirect URI that its document does not list', async () => {
    await createDocumentWorld(() => Response.json(DOCUMENT));
    expect((await world.browser.get(authorizeUrl(ID, { redirect_uri: `${REDIRECT}2` }))).status).toBe(400);
  });

  it.each([
    'https://127.0.0.1/client.json',
    'https://169.254.169.254/latest',
    'https://10.0.0.1/client.json',
    'https://2130706433/client.json',
    'https://[::ffff:10.0.0.1]/client.json',
    'https://intranet/client.json',
    'https://app.example/',
    'https://app.example',
    'https://app.example/a/../client.json',
    'https://user:pw@app.example/client.json',
    'https://app.example/client.json#x',
  ])('[AUTH-037][SEC-006][ROBUSTNESS-11] is not fetched from %s', async (id) => {
    await createDocumentWorld(() => Response.json({ ...DOCUMENT, client_id: id }));
    expect((await world.browser.get(authorizeUrl(id))).status).toBe(400);
    expect(asked).toEqual([]);
  });
});
