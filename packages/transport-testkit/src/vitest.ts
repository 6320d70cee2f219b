/** `@mortise/transport-testkit/vitest`: runs each test case of a kit as a test of vitest. */

import { describe, it } from 'vitest';
import { longestCaseMs } from './check.ts';
import { findLackingTraits, type KitCase, type KitSetup, type KitSubject, runCase } from './kit-case.ts';
import { type ExchangeSetup, exchangeCases, toExchangeKitSetup } from './exchange-cases.ts';
import { toKitSetup, type TransportSetup } from './transport/transport-case.ts';
import { transportCases } from './transport/transport-cases.ts';

/** Tests the guarantees T1 to T14 of a transport. Skips cases for optional abilities (traits) that the transport does not have. */
export function describeTransport(name: string, setup: TransportSetup): void {
  describeKit(name, transportCases, toKitSetup(setup));
}

/** Tests the guarantees X1 to X5 of a transport that sends each request as an exchange of its own, as HTTP does. */
export function describeExchange(name: string, setup: ExchangeSetup): void {
  describeKit(name, exchangeCases, toExchangeKitSetup(setup));
}

/** Runs the test cases of any kit with vitest: `describeKit('memory bus', messageBusCases, { create })`. */
export function describeKit<Subject extends KitSubject, Options>(
  name: string,
  cases: readonly KitCase<Subject, Options>[],
  setup: KitSetup<Subject, Options>,
): void {
  describe(name, () => {
    for (const kitCase of cases) {
      const title = `${kitCase.id} ${kitCase.title}`;
      const lacks = findLackingTraits(kitCase.needs, setup.traits);
      if (lacks.length > 0) it.skip(`${title} (needs ${lacks.join(', ')})`, () => undefined);
      else it(title, { timeout: longestCaseMs() }, () => runCase(kitCase, setup));
    }
  });
}
