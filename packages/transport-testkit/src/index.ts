/** `@mortise/transport-testkit`: the promises of Mortise's joints as cases that any implementation can be run against. */

// What programs use; with a test runner see `/vitest` and `/node-test`.
export {
  type TransportCase,
  type TransportPair,
  type TransportSetup,
  type TransportTraits,
  type PairOptions,
  toKitSetup,
} from './transport/transport-case.ts';
export { transportCases } from './transport/transport-cases.ts';
export {
  type AnsweredExchange,
  type AnswerExchange,
  type ExchangeCase,
  exchangeCases,
  type ExchangePair,
  type ExchangeSetup,
  type ExchangeSubject,
  type ExchangeTraits,
  toExchangeKitSetup,
} from './exchange-cases.ts';
export { type CaseResult, type KitCase, type KitSetup, type KitSubject, type KitTraits, runCase, runCases } from './kit-case.ts';

// What writers of further kits use.
export { check, checkCode, checkEqual, checkRejects, KitFailure, setPatience, settlesWithin, turns, within } from './check.ts';
