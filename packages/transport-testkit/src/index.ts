/** `@mortise/transport-testkit`: compliance cases for the interfaces of Mortise, which any implementation can be tested with. */

// For programs; with a test runner use `/vitest` or `/node-test`.
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
export {
  type CaseResult,
  type KitCase,
  type KitSetup,
  type KitSubject,
  type KitTraits,
  runCase,
  runCases,
  setShortLife,
} from './kit-case.ts';

// For authors of further test kits.
export { check, checkCode, checkEqual, checkRejects, KitFailure, setPatience, settlesWithin, turns, within } from './check.ts';
