/** `oidc-provider` as a real authorization server on loopback, with a person who signs in and agrees to everything. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Configuration, Provider } from 'oidc-provider';

export interface Oidc {
  readonly issuer: string;
  /** Signs in and agrees as a browser would. @returns Where the browser ends up. */
  readonly agree: (url: URL) => Promise<URL>;
  close(): Promise<void>;
}

/** @param resource The resource that tokens are made for. */
export async function startOidc(resource: () => string, more: Configuration = {}): Promise<Oidc> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    scopes: ['openid', 'offline_access', 'read', 'write'],
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    features: {
      devInteractions: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      dPoP: { enabled: true, requireNonce: () => false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource(),
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, indicator) => ({ scope: 'read write', audience: indicator, accessTokenFormat: 'jwt' }),
      },
    },
    ...more,
  });
  server.on('request', provider.callback());
  return {
    issuer,
    agree: async (url) => await browse(url, issuer),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Follows redirects with cookies and sends each form that it meets, until it leaves the issuer. */
async function browse(first: URL, issuer: string): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = first;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const init = form ? { method: 'POST', body: form } : {};
    const answer = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url);
      form = undefined;
      if (url.origin !== issuer) return url;
      continue;
    }
    const page = await answer.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    const action = /action="([^"]+)"/.exec(page)?.[1];
    if (prompt === undefined || action === undefined) throw new Error(`The page has no form: ${answer.status} ${page.slice(0, 400)}`);
    url = new URL(action, url);
    form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: 'ada', password: 'x' }) });
  }
  throw new Error('The browser goes round in circles');
}
