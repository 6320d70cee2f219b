import { oauth } from '@mortise/auth-oauth/client';
import { authorizerCases } from '@mortise/transport-testkit/authorizer';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { agreeing, createWorld } from '../support/world.ts';

describeKit('oauth', authorizerCases, {
  async create() {
    const world = await createWorld();
    const { as, server } = world;
    const request = { method: 'POST', url: server.url };
    let signIns = 0;
    let refusesAll = false;
    const authorizer = oauth(server.url, {
      signIn: agreeing({
        agree: (url) => {
          signIns++;
          return as.agree(url);
        },
      }),
    });
    return {
      authorizer,
      request,
      async ask(headers, attempt) {
        const answer = await fetch(server.url, { method: 'POST', headers: refusesAll ? {} : { ...headers } });
        await answer.body?.cancel();
        if (answer.ok) return undefined;
        return { status: answer.status, url: server.url, attempt, given: headers, header: (name) => answer.headers.get(name) ?? undefined };
      },
      signIns: () => signIns,
      refuseAll: () => {
        refusesAll = true;
      },
      close: () => world.close(),
    };
  },
});
