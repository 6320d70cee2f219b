/** `@mortise/transport-testkit/node-test`: runs each case as a test of Node's test runner. */

import { describe, it } from 'node:test';
import { type ExchangeSetup, exchangeCases, toExchangeKitSetup } from './exchange-cases.ts';
import { findLackingTraits, type KitCase, type KitSetup, type KitSubject, runCase } from './kit-case.ts';
import { toKitSetup, type TransportSetup } from './transport/transport-case.ts';
import { transportCases } from './transport/transport-cases.ts';

/** Tests that a transport keeps the promises T1 to T14. A case whose traits are missing is skipped. */
export function describeTransport(name: string, setup: TransportSetup): void {
  describeKit(name, transportCases, toKitSetup(setup));
}

/** Tests that a transport's exchanges keep the promises X1 to X5. */
export function describeExchange(name: string, setup: ExchangeSetup): void {
  describeKit(name, exchangeCases, toExchangeKitSetup(setup));
}

/** Runs the cases of any kit as tests: `describeKit('memory bus', messageBusCases, { create })`. */
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
