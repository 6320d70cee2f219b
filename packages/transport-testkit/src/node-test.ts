/** `@mortise/transport-testkit/node-test`: shows each case as a test of Node's own runner. */

import { describe, it } from 'node:test';
import { type ExchangeSetup, exchangeCases, toExchangeKitSetup } from './exchange-cases.ts';
import { findLackingTraits, type KitCase, type KitSetup, type KitSubject, runCase } from './kit-case.ts';
import { toKitSetup, type TransportSetup } from './transport/transport-case.ts';
import { transportCases } from './transport/transport-cases.ts';

/** Shows that a transport keeps the promises T1 to T14. A case whose traits are lacking shows as skipped. */
export function describeTransport(name: string, setup: TransportSetup): void {
  describeKit(name, transportCases, toKitSetup(setup));
}

/** Shows that a transport's exchanges keep the promises X1 to X5. */
export function describeExchange(name: string, setup: ExchangeSetup): void {
  describeKit(name, exchangeCases, toExchangeKitSetup(setup));
}

/** Shows the cases of any kit: `describeKit('memory bus', messageBusCases, { create })`. */
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
