/** The official SDKs' clients sign in to a protected Mortise server, and Mortise's client signs in to theirs. */

import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  UnauthorizedError as UnauthorizedV2,
} from '@modelcontextprotocol/client';
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as TransportV1 } from '@modelcontextprotocol/sdk/shared/transport.js';
import { oauth, redirectSignIn } from '@mortise/auth-oauth/client';
import { McpClient } from '@mortise/client';
import { httpTransport } from '@mortise/transport-http/client';
import { afterEach, describe, expect, it } from 'vitest';
import { passSignIn, serveProtectedMortise } from '../fixtures/mortise-auth-server.mjs';
import { serveProtectedV1, serveProtectedV2 } from '../fixtures/official-auth-servers.mjs';

const REDIRECT = 'http://127.0.0.1:9/callback';
const info = { name: 'interop', version: '1.0.0' };

let serving: { readonly url: string; close(): Promise<void> } | undefined;
afterEach(async () => {
  await serving?.close();
  serving = undefined;
});

/** What an official client's program provides: it remembers everything, and where the person is to be sent. */
class OfficialProvider {
  readonly redirectUrl: string = REDIRECT;
  visits: URL[] = [];
  #saved: Record<string, unknown> = {};

  get clientMetadata(): { client_name: string; redirect_uris: string[]; token_endpoint_auth_method: string; grant_types: string[] } {
    return {
      client_name: 'Official',
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    };
  }
  clientInformation = (): never => this.#saved['client'] as never;
  saveClientInformation = (client: unknown): void => void (this.#saved['client'] = client);
  tokens = (): never => this.#saved['tokens'] as never;
  saveTokens = (tokens: unknown): void => void (this.#saved['tokens'] = tokens);
  codeVerifier = (): string => String(this.#saved['verifier']);
  saveCodeVerifier = (verifier: string): void => void (this.#saved['verifier'] = verifier);
  discoveryState = (): never => this.#saved['discovery'] as never;
  saveDiscoveryState = (state: unknown): void => void (this.#saved['discovery'] = state);
  redirectToAuthorization = (url: URL): void => void this.visits.push(url);

  get accessToken(): unknown {
    return (this.#saved['tokens'] as { readonly access_token: string } | undefined)?.access_token;
  }

  dropRefreshToken(): void {
    const { refresh_token: _dropped, ...rest } = this.#saved['tokens'] as Record<string, unknown>;
    this.#saved['tokens'] = rest;
  }

  /** The person signs in. */
  async signIn(): Promise<URLSearchParams> {
    const url = this.visits.at(-1);
    if (url === undefined) throw new Error('nobody was sent anywhere');
    return (await passSignIn(url, REDIRECT)).searchParams;
  }
}

describe('a protected Mortise server', () => {
  it('lets the official v1 client sign in, refresh and step up', async () => {
    serving = await serveProtectedMortise();
    const url = new URL(serving.url);
    const provider = new OfficialProvider();
    const open = async (): Promise<{ client: ClientV1; transport: HttpV1 }> => {
      const transport = new HttpV1(url, { authProvider: provider });
      const client = new ClientV1(info);
      await client.connect(transport as TransportV1);
      return { client, transport };
    };
    await expect(open()).rejects.toThrow(UnauthorizedV1);
    await new HttpV1(url, { authProvider: provider }).finishAuth((await provider.signIn()).get('code') ?? '');
    let { client, transport } = await open();
    expect((await client.callTool({ name: 'who' })).content).toEqual([{ type: 'text', text: `ada by ${url.origin}` }]);
    // With a refresh token it refreshes, which brings no more scope; only without one does it send its user to sign in again.
    const before = provider.accessToken;
    await expect(client.callTool({ name: 'write' })).rejects.toThrow('after trying upscoping');
    expect(provider.accessToken).not.toBe(before);
    provider.dropRefreshToken();
    await transport.close();
    ({ client, transport } = await open());
    await expect(client.callTool({ name: 'write' })).rejects.toThrow(UnauthorizedV1);
    expect(provider.visits.at(-1)?.searchParams.get('scope')).toContain('write');
    await transport.finishAuth((await provider.signIn()).get('code') ?? '');
    expect((await client.callTool({ name: 'write' })).content).toEqual([{ type: 'text', text: 'written' }]);
    await client.close();
  });

  it.each(['legacy', 'auto'] as const)('lets the official v2 client sign in and step up, in mode %s', async (mode) => {
    serving = await serveProtectedMortise();
    const url = new URL(serving.url);
    const provider = new OfficialProvider();
    const open = async (): Promise<{ client: ClientV2; transport: HttpV2 }> => {
      const transport = new HttpV2(url, { authProvider: provider });
      const client = new ClientV2(info, { versionNegotiation: { mode } });
      await client.connect(transport);
      return { client, transport };
    };
    await expect(open()).rejects.toThrow(UnauthorizedV2);
    await new HttpV2(url, { authProvider: provider }).finishAuth(await provider.signIn());
    const { client, transport } = await open();
    expect((await client.callTool({ name: 'who' })).content).toEqual([{ type: 'text', text: `ada by ${url.origin}` }]);
    await expect(client.callTool({ name: 'write' })).rejects.toThrow(UnauthorizedV2);
    await transport.finishAuth(await provider.signIn());
    expect((await client.callTool({ name: 'write' })).content).toEqual([{ type: 'text', text: 'written' }]);
    await client.close();
  });

  it("lets Mortise's own client sign in and step up, each with one visit", async () => {
    serving = await serveProtectedMortise();
    const visits: URL[] = [];
    const client = await connect(serving.url, visits);
    expect((await client.callTool('who', {})).content).toEqual([{ type: 'text', text: `ada by ${new URL(serving.url).origin}` }]);
    expect((await client.callTool('write', {})).content).toEqual([{ type: 'text', text: 'written' }]);
    expect(visits.map((visit) => visit.searchParams.get('scope'))).toEqual(['mcp', expect.stringMatching(/^(?:mcp write|write mcp)$/)]);
    await client.close();
  });
});

function connect(url: string, visits: URL[]): Promise<McpClient> {
  const signIn = redirectSignIn({
    redirectUrl: REDIRECT,
    authorize: (visit) => {
      visits.push(visit);
      return passSignIn(visit, REDIRECT);
    },
  });
  return McpClient.connect(httpTransport(url, { authorizer: oauth(url, { signIn }) }), info);
}

describe("Mortise's client", () => {
  it.each([
    { name: 'v1', serve: serveProtectedV1 },
    { name: 'v2', serve: serveProtectedV2 },
  ])('signs in to a protected server of the official $name SDK', async ({ serve }) => {
    serving = await serve();
    const visits: URL[] = [];
    const client = await connect(serving.url, visits);
    expect((await client.listTools()).tools).not.toEqual([]);
    expect(visits).toHaveLength(1);
    await client.close();
  });
});
