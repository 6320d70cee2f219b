/** Several issuers at once: the old one and the new, people's and workloads'. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import type { AuthInfo, TokenVerifier } from '@mortise/protocol/contracts';
import { AuthOptionError } from '../errors.ts';

/**
 * Accepts what any of several verifiers accepts, asked in order. A token that none accepts gets the refusal of the last, unless one was in
 * trouble of its own: then nobody can say that the token is not good.
 *
 * @throws {AuthOptionError} `ERR_AUTH_OPTION`: no verifier is given.
 */
export function anyVerifier(...verifiers: readonly TokenVerifier[]): TokenVerifier {
  if (verifiers.length === 0) throw new AuthOptionError('No verifier is given: name at least one');
  return {
    verify: async (request, options): Promise<AuthInfo> => {
      let fault: unknown;
      let refusal: unknown;
      for (const verifier of verifiers) {
        try {
          return await verifier.verify(request, options);
        } catch (error) {
          options.signal.throwIfAborted();
          if (isMortiseError(error) && error.code === 'ERR_AUTH_CHALLENGE') refusal = error;
          else fault ??= error;
        }
      }
      throw fault ?? refusal;
    },
  };
}
