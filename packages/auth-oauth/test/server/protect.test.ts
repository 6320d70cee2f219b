import { AuthChallengeError } from '@mortise/protocol';
import { describe, expect, it } from 'vitest';
import { bearerVerifier, InvalidTokenError, protect, type ProtectOptions } from '../../src/server.ts';
import { ask, refusalOf } from './support/ask.ts';

const RESOURCE = 'https://mcp.example/mcp';
const WHERE = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"';

/** Tokens are the scopes that they have. */
const verifier = bearerVerifier((token) =>
  token === 'bad'
    ? Promise.reject(new InvalidTokenError('The token is "bad"'))
    : Promise.resolve({ principal: 'ada', scopes: token.split('+'), token }),
);

const create = (options: Partial<ProtectOptions> = {}) =>
  protect({ resource: RESOURCE, authorizationServers: ['https://as.example'], verifier, ...options });

describe('protect', () => {
  it('[AUTH-009] gives metadata that names the resource and its authorization servers', () => {
    expect(
      create({ scopes: ['mcp'], metadata: { resource_name: 'Files', resource_documentation: 'https://mcp.example/docs' } }).metadata,
    ).toEqual({
      resource: RESOURCE,
      authorization_servers: ['https://as.example'],
      bearer_methods_supported: ['header'],
      scopes_supported: ['mcp'],
      resource_name: 'Files',
      resource_documentation: 'https://mcp.example/docs',
    });
  });

  it('[SEC-021] tells of more scopes than it demands', () => {
    const { metadata } = create({
      scopes: ['mcp'],
      metadata: { scopes_supported: ['mcp', 'files:write'], dpop_bound_access_tokens_required: true },
    });
    expect(metadata).toMatchObject({ scopes_supported: ['mcp', 'files:write'], dpop_bound_access_tokens_required: true });
  });

  it.each([
    ['https://mcp.example', 'https://mcp.example/.well-known/oauth-protected-resource'],
    ['https://mcp.example/', 'https://mcp.example/.well-known/oauth-protected-resource'],
    ['https://mcp.example/public/mcp', 'https://mcp.example/.well-known/oauth-protected-resource/public/mcp'],
    ['https://mcp.example/mcp?tenant=1', 'https://mcp.example/.well-known/oauth-protected-resource/mcp?tenant=1'],
  ])('[AUTH-015] puts the metadata of %s at %s', (resource, url) => {
    expect(create({ resource }).metadataUrl).toBe(url);
  });

  it('[AUTH-011][AUTH-061] completes a challenge with the metadata and the scopes to ask for', async () => {
    const { verifier: protecting } = create({ scopes: ['a', 'b'] });
    expect(await refusalOf(protecting, undefined, { scheme: undefined })).toEqual({
      status: 401,
      challenge: `Bearer scope="a b", ${WHERE}`,
      headers: {},
    });
    expect((await refusalOf(protecting, 'bad')).challenge).toBe(
      `Bearer error="invalid_token", error_description="The token is 'bad'", scope="a b", ${WHERE}`,
    );
  });

  it('[AUTH-085] keeps the 400 of a malformed header', async () => {
    expect(await refusalOf(create({ scopes: ['a'] }).verifier, undefined)).toEqual({
      status: 400,
      challenge: `Bearer error="invalid_request", error_description="The Authorization header has no valid token", ${WHERE}`,
      headers: {},
    });
  });

  it("leaves alone what a verifier of one's own has said already", async () => {
    const own = {
      verify: () =>
        Promise.reject(
          new AuthChallengeError('no', {
            status: 401,
            challenge: 'Bearer scope="x", resource_metadata="https://y"',
            headers: { 'X-A': '1' },
          }),
        ),
    };
    expect(await refusalOf(create({ verifier: own, scopes: ['a'] }).verifier, 'x')).toEqual({
      status: 401,
      challenge: 'Bearer scope="x", resource_metadata="https://y"',
      headers: { 'X-A': '1' },
    });
  });

  it('[AUTH-064][AUTH-065][AUTH-085] refuses a token without scope with 403 and all the scopes needed', async () => {
    expect(await refusalOf(create({ scopes: ['a', 'b'] }).verifier, 'a')).toEqual({
      status: 403,
      challenge: `Bearer error="insufficient_scope", error_description="The token lacks a scope that every request to this server needs", scope="a b", ${WHERE}`,
      headers: {},
    });
  });

  it('[AUTH-071] lets broader scopes hold narrower ones', async () => {
    const impliedScopes = { admin: ['write'], write: ['read'], loop: ['loop', 'admin'] };
    const { verifier: protecting } = create({ scopes: ['read'], impliedScopes });
    const info = await ask(protecting, 'admin');
    expect([info.scopes, info.token]).toEqual([['admin', 'write', 'read'], 'admin']);
    expect((await ask(protecting, 'loop')).scopes).toContain('read');
    expect((await refusalOf(protecting, 'other')).status).toBe(403);
    expect((await refusalOf(protecting, '__proto__')).status).toBe(403);
  });

  it('[AUTH-084] keeps offline_access out of metadata and challenges', () => {
    expect(() => create({ scopes: ['offline_access'] })).toThrow(TypeError);
    expect(() => create({ metadata: { scopes_supported: ['offline_access'] } })).toThrow(TypeError);
  });

  it.each<Partial<ProtectOptions>>([
    { resource: 'http://mcp.example/mcp' },
    { resource: 'https://mcp.example/mcp#x' },
    { resource: 'mcp' },
    { authorizationServers: [] },
    { authorizationServers: ['http://as.example'] },
    { scopes: ['a b'] },
    { scopes: ['"'] },
    { scopes: ['*'] },
  ])('refuses %j at once', (options) => {
    expect(() => create(options)).toThrow(TypeError);
  });

  it('passes on a fault of the verifier as what it is', async () => {
    const broken = { verify: () => Promise.reject(new Error('keys')) };
    await expect(ask(create({ verifier: broken }).verifier, 'x')).rejects.toThrow('keys');
  });
});
