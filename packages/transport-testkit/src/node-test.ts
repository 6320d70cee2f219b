/** `@mortise/transport-testkit/node-test`: runs each test case of a kit as a test of Node's test runner. */

import { describe, it } from 'node:test';
import { type ExchangeSetup, exchangeCases, toExchangeKitSetup } from './exchange-cases.ts';
import { findLackingTraits, type KitCase, type KitSetup, type KitSubject, runCase } from './kit-case.ts';
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

/** Runs the test cases of any kit with Node's test runner: `describeKit('memory bus', messageBusCases, { create })`. */
export function describeKit<Subject extends KitSubject, Options>(
  name: string,
  cases: readonly KitCase<Subject, Options>[],
  setup: KitSetup<Subject, Options>,
): void {
  void describe(name, () => {
    for (const kitCase of cases) {
      const lacks = findLackingTraits(kitCase.needs, setup.traits);
      const skip = lacks.length > 0 ? `needs ${lacks.join(', ')}` : false;
      void it(`${kitCase.id} ${kitCase.title}`, { skip }, () => runCase(kitCase, setup));
    }
  });
}
