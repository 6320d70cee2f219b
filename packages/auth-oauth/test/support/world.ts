/** A protected server with its authorization server, and a client that asks it as the transports do. */

import type { Authorizer } from '@mortise/protocol/contracts';
import { oauth, type OAuthOptions, redirectSignIn, type SignInAuthorizer } from '@mortise/auth-oauth/client';
import { TestAuthorizationServer, TestResource } from './authorization-server.ts';

export const REDIRECT_URL = 'http://127.0.0.1:33418/callback';

export interface World {
  readonly as: TestAuthorizationServer;
  readonly server: TestResource;
  /** Opens more peers, closed with the others. */
  addServer(): Promise<TestAuthorizationServer>;
  /** An authorizer whose person agrees to everything. */
  authorizer(options?: OAuthOptions): SignInAuthorizer;
  close(): Promise<void>;
}

export async function createWorld(): Promise<World> {
  const as = await new TestAuthorizationServer().listen();
  const server = await new TestResource(as).listen();
  const others: TestAuthorizationServer[] = [];
  return {
    as,
    server,
    addServer: async () => {
      const other = await new TestAuthorizationServer().listen();
      others.push(other);
      return other;
    },
    authorizer: (options = {}) => oauth(server.url, { signIn: agreeing(as), ...options }),
    close: async () => {
      for (const peer of [as, server, ...others]) await peer.close();
    },
  };
}

/** A person who agrees. */
export function agreeing(as: { readonly agree: (url: URL) => Promise<URL> }) {
  return redirectSignIn({ redirectUrl: REDIRECT_URL, authorize: as.agree });
}

/** Asks a server as a transport does: at most three challenges. @returns The last status. */
export async function ask(authorizer: Authorizer, url: string, method = 'POST'): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const given = await authorizer.headers({ method, url });
    const answer = await fetch(url, { method, headers: given });
    await answer.body?.cancel();
    const { status } = answer;
    if ((status !== 401 && status !== 403) || attempt > 3) return status;
    const header = (name: string): string | undefined => answer.headers.get(name) ?? undefined;
    if ((await authorizer.onChallenge({ status, url, attempt, given, header })) === 'fail') return status;
  }
}
