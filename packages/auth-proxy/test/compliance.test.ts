/** The proxy's verifier keeps the promises of `TokenVerifier`. */

import { systemClock } from '@mortise/jsonrpc-core/transport';
import type { TokenRequest } from '@mortise/protocol/contracts';
import { tokenVerifierCases } from '@mortise/transport-testkit/token-verifier';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { authorizeUrl, createWorld, obtain, post, redeem, register, RESOURCE, signIn } from './support/proxy-world.ts';

function toRequest(token: string): TokenRequest {
  return { scheme: 'Bearer', token, method: 'POST', url: RESOURCE, header: () => undefined };
}

describeKit('the authorization proxy', tokenVerifierCases, {
  create: async () => {
    const world = await createWorld({ clock: systemClock });
    const clientId = await register(world);
    const token = async (): Promise<string> => String((await obtain(world, clientId))['access_token']);
    const valid = await token();
    const revoked = await token();
    await post(world, '/revoke', { token: revoked, client_id: clientId });
    const code = (await signIn(world, authorizeUrl(clientId))).searchParams.get('code') ?? '';
    world.provider.user = 'eve';
    const another = String((await redeem(world, clientId, await signIn(world, authorizeUrl(clientId)))).body['access_token']);
    return {
      verifier: world.proxy.verifier,
      valid: toRequest(valid),
      another: toRequest(another),
      refused: { revoked: toRequest(revoked), 'a code': toRequest(code), 'of the provider': toRequest('upstream-ada-1') },
      close: () => Promise.resolve(),
    };
  },
});
