/** `@mortise/transport-testkit/token-verifier`: test cases for the guarantees N1 and N2 of a `TokenVerifier`. */

import type { TokenRequest, TokenVerifier } from '@mortise/protocol/contracts';
import { check, checkCode, checkEqual, checkRejects, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `TokenVerifier` cases test: a verifier, and requests with valid and invalid tokens. */
export interface TokenVerifierSubject extends KitSubject {
  readonly verifier: TokenVerifier;
  /** A request whose token is valid. */
  readonly valid: TokenRequest;
  /** A request with a valid token of another principal than that of `valid`. */
  readonly another: TokenRequest;
  /** Requests whose token must be refused, by its fault: expired, for another resource, altered, bound to another request. */
  readonly refused: Readonly<Record<string, TokenRequest>>;
  /** For verifiers that declare the trait `faults`: a request that causes an internal error, such as keys that cannot be fetched. */
  readonly faulty?: TokenRequest;
  /** For verifiers that declare the trait `waits`: a request whose verification takes long. */
  readonly slow?: TokenRequest;
}

/** A test case for one guarantee of a `TokenVerifier`. */
export type TokenVerifierCase = KitCase<TokenVerifierSubject>;

const never = (): { readonly signal: AbortSignal } => ({ signal: new AbortController().signal });

/** Throws unless an error is a valid HTTP challenge: with a status, a valid header, and without the token in its text. */
function checkChallenge(error: unknown, { token }: TokenRequest, what: string): void {
  checkCode(error, 'ERR_AUTH_CHALLENGE', what);
  const { status, challenge, headers, message } = error as Record<string, unknown>;
  check(status === 400 || status === 401 || status === 403, `${what} should have the status 400, 401 or 403, but has ${String(status)}`);
  check(typeof challenge === 'string' && /^[A-Za-z]+(?: |$)/.test(challenge), `${what} should name a scheme for WWW-Authenticate`);
  const words = JSON.stringify([challenge, headers, message]);
  check(!/[\r\n]/.test(String(challenge)), `${what} should fit in a header`);
  if (token !== undefined && token.length >= 8) check(!words.includes(token), `${what} should not repeat the token`);
}

/** Test cases for the guarantees of a `TokenVerifier`. The id of a case, such as N1.1, begins with the id of its guarantee. */
export const tokenVerifierCases: readonly TokenVerifierCase[] = [
  {
    id: 'N1.1',
    title: 'gives the principal of a valid token',
    async run({ verifier, valid }) {
      const info = await within(verifier.verify(valid, never()), 'verify should settle');
      check(typeof info.principal === 'string' && info.principal !== '', 'The principal should be a string that is not empty');
      check(!['local', 'anonymous'].includes(info.principal), 'A principal should not be one of those that nobody verified');
      check(Array.isArray(info.scopes), 'The scopes should be an array');
      const { expiresAtMs } = info;
      if (expiresAtMs !== undefined) check(expiresAtMs > Date.now(), 'The end of a valid token should be ahead, in milliseconds');
    },
  },
  {
    id: 'N1.2',
    title: 'gives the same principal for the same caller, and another for another caller',
    async run({ verifier, valid, another }) {
      const [first, second, other] = await Promise.all([valid, valid, another].map((request) => verifier.verify(request, never())));
      checkEqual(second?.principal, first?.principal, 'The principal of the same caller');
      check(other?.principal !== first?.principal, 'Another caller should be another principal');
    },
  },
  {
    id: 'N1.3',
    title: 'refuses tokens that are expired, or for another resource or request',
    async run({ verifier, refused }) {
      check(Object.keys(refused).length > 0, 'There should be requests to refuse');
      for (const [what, request] of Object.entries(refused))
        await checkRejects(verifier.verify(request, never()), `A token that is ${what}`);
    },
  },
  {
    id: 'N1.4',
    title: 'refuses a request without a token or with a meaningless one',
    async run({ verifier, valid }) {
      const { scheme: _scheme, token: _token, ...rest } = valid;
      const bare: TokenRequest = { ...rest, header: (name) => valid.header(name), scheme: undefined, token: undefined };
      const strange = ['', 'x', 'a.b.c', '\u0000', 'e30.e30.', 'x'.repeat(100_000)];
      for (const request of [bare, ...strange.map((token) => ({ ...bare, scheme: 'Bearer', token }))])
        await checkRejects(verifier.verify(request, never()), `The token "${request.token?.slice(0, 10)}"`);
    },
  },
  {
    id: 'N2.1',
    title: 'rejects a wrong or missing token with a valid challenge that does not contain the token',
    async run({ verifier, valid, refused }) {
      const { scheme: _scheme, token: _token, ...rest } = valid;
      const bare: TokenRequest = { ...rest, header: (name) => valid.header(name), scheme: undefined, token: undefined };
      for (const [what, request] of Object.entries({ ...refused, missing: bare }))
        checkChallenge(
          await checkRejects(verifier.verify(request, never()), `A token that is ${what}`),
          request,
          `What a ${what} token gets`,
        );
    },
  },
  {
    id: 'N2.2',
    title: 'rejects with an error that is not a challenge for an internal failure',
    needs: ['faults'],
    async run({ verifier, faulty }) {
      check(faulty !== undefined, 'A subject with the trait faults should have a request that meets one');
      const error = await checkRejects(verifier.verify(faulty, never()), 'A request that meets a fault');
      check((error as { readonly code?: unknown }).code !== 'ERR_AUTH_CHALLENGE', 'A fault of the verifier should not be a challenge');
    },
  },
  {
    id: 'N2.3',
    title: 'rejects when its signal aborts',
    needs: ['waits'],
    async run({ verifier, slow }) {
      check(slow !== undefined, 'A subject with the trait waits should have a request that takes long');
      const controller = new AbortController();
      const verified = verifier.verify(slow, { signal: controller.signal });
      controller.abort(new Error('gone'));
      await checkRejects(verified, 'verify after its signal was aborted');
    },
  },
];
