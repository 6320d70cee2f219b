/** `@mortise/transport-testkit/authorizer`: test cases for the guarantees A1 to A3 of an `Authorizer`. */

import type { Authorizer, Challenge } from '@mortise/protocol/contracts';
import { check, checkEqual, within } from './check.ts';
import type { KitCase, KitSubject } from './kit-case.ts';

/** What the `Authorizer` cases test: an authorizer that has not signed in yet, and a server that requires a sign-in. */
export interface AuthorizerSubject extends KitSubject {
  readonly authorizer: Authorizer;
  /** The HTTP request to which the authorizer adds credentials. */
  readonly request: { readonly method: string; readonly url: string };
  /** Sends the request with the authorizer's headers. Resolves with the server's challenge, or `undefined` if the server accepts it. */
  ask(headers: Readonly<Record<string, string>>, attempt: number): Promise<Challenge | undefined>;
  /** Counts how often the authorizer requested credentials: by a sign-in, a refresh or a token exchange. */
  signIns(): number;
  /** Makes the server refuse every further request. */
  refuseAll(): void;
}

/** A test case for one guarantee of an `Authorizer`. */
export type AuthorizerCase = KitCase<AuthorizerSubject>;

/** Sends a request with an authorizer, as a transport does. @returns How many challenges came, and whether the server accepted it. */
async function call({
  authorizer,
  request,
  ask,
}: AuthorizerSubject): Promise<{ readonly challenges: number; readonly isThrough: boolean }> {
  for (let attempt = 1; ; attempt++) {
    const headers = await within(authorizer.headers(request), 'headers should settle');
    const challenge = await ask(headers, attempt);
    if (!challenge) return { challenges: attempt - 1, isThrough: true };
    check(attempt <= 3, 'A fourth challenge of one call should have been a "fail"');
    if ((await authorizer.onChallenge(challenge).catch(() => 'fail')) === 'fail') return { challenges: attempt, isThrough: false };
  }
}

/** Test cases for the guarantees A1 to A3 of an `Authorizer`. Run them with `describeKit` or `runCases`. */
export const authorizerCases: readonly AuthorizerCase[] = [
  {
    id: 'A1.1',
    title: 'gives valid headers, also before it has signed in',
    async run({ authorizer, request }) {
      for (const [name, value] of Object.entries(await within(authorizer.headers(request), 'headers should settle'))) {
        check(/^[a-z0-9!#$%&'*+\-.^_`|~]+$/i.test(name), `"${name}" should be a header's name`);
        check(/^[\t\x20-\x7e\x80-\xff]*$/.test(value), `The value of "${name}" should fit in a header`);
      }
    },
  },
  {
    id: 'A1.2',
    title: 'requests no credentials while it has a token',
    async run(subject) {
      checkEqual((await call(subject)).isThrough, true, 'Whether the server accepts the first call');
      const before = subject.signIns();
      for (let n = 0; n < 5; n++) checkEqual(await call(subject), { challenges: 0, isThrough: true }, 'A later call');
      checkEqual(subject.signIns(), before, 'How often credentials were requested');
    },
  },
  {
    id: 'A2.1',
    title: 'says "retry" only where something changed',
    async run({ authorizer, request, ask }) {
      const before = await authorizer.headers(request);
      const challenge = await ask(before, 1);
      check(challenge !== undefined, 'The server should challenge a caller that has not signed in');
      checkEqual(
        await within(authorizer.onChallenge(challenge), 'onChallenge should settle'),
        'retry',
        'The result of onChallenge for the first challenge',
      );
      check(JSON.stringify(await authorizer.headers(request)) !== JSON.stringify(before), 'Headers should differ after "retry"');
    },
  },
  {
    id: 'A2.2',
    title: 'gives up on a server that refuses every request',
    async run(subject) {
      await call(subject);
      subject.refuseAll();
      const { challenges, isThrough } = await call(subject);
      checkEqual(isThrough, false, 'Whether the server accepts the call');
      check(challenges <= 3, `A call should take at most three challenges, but took ${challenges}`);
    },
  },
  {
    id: 'A3.1',
    title: 'shares one sign-in among concurrent calls',
    async run(subject) {
      const calls = await Promise.all(Array.from({ length: 10 }, () => call(subject)));
      checkEqual(
        calls.every(({ isThrough }) => isThrough),
        true,
        'Whether the server accepts all calls',
      );
      checkEqual(subject.signIns(), 1, 'How often credentials were requested');
    },
  },
];
