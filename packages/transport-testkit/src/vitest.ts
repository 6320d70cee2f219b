/** `@mortise/transport-testkit/vitest`: runs each case as a test of vitest. */

import { describe, it } from 'vitest';
import { longestCaseMs } from './check.ts';
import { findLackingTraits, type KitCase, type KitSetup, type KitSubject, runCase } from './kit-case.ts';
import { type ExchangeSetup, exchangeCases, toExchangeKitSetup } from './exchange-cases.ts';
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
  describe(name, () => {
    for (const kitCase of cases) {
      const title = `${kitCase.id} ${kitCase.title}`;
      const lacks = findLackingTraits(kitCase.needs, setup.traits);
      if (lacks.length > 0) it.skip(`${title} (needs ${lacks.join(', ')})`, () => undefined);
      else it(title, { timeout: longestCaseMs() }, () => runCase(kitCase, setup));
    }
  });
}
