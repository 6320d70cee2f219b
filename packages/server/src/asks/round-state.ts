/** What a chain of rounds remembers from one to the next: the plain data inside a sealed `requestState`. */

import type { JsonObject, JsonValue } from '@mortise/jsonrpc-core';
import { RequestStateError } from '../errors.ts';
import type { StepValue } from './steps.ts';

/** A question that was put to the client. */
export interface Asked {
  readonly method: string;
  /** Of the method and the canonical parameters: an answer is given back to this question and to no other. */
  readonly digest: string;
  /** How it was asked. A `plain` one has no key of its author's, and every later run is expected to ask it again. */
  readonly source: 'plain' | 'keyed' | 'in step' | 'by hand';
  /** The beginning of what was asked, for messages. */
  readonly text: string;
}

/** A question that is about to be put. */
export interface AskedNow extends Asked {
  readonly params: JsonObject | undefined;
}

/** A question and what the client said. */
export interface Answered extends Asked {
  readonly answer: JsonObject;
}

export interface RoundState {
  readonly chainId: string;
  /** The number of this round, from 1. */
  readonly round: number;
  readonly answers: ReadonlyMap<string, Answered>;
  /** What the last round asked. */
  readonly asked: ReadonlyMap<string, Asked>;
  readonly steps: ReadonlyMap<string, StepValue>;
  /** How many notifications were sent. */
  readonly reports: number;
  /** The highest step of progress that was told. */
  readonly progress: number | undefined;
  /** The state that a handler gave by hand. */
  readonly given: JsonValue | undefined;
}

/** Counted up whenever what is inside changes its meaning. */
const LAYOUT = 1;

export function writeRoundState(state: RoundState): JsonObject {
  const { chainId, round, answers, asked, steps, reports, progress, given } = state;
  return {
    layout: LAYOUT,
    chainId,
    round,
    answers: [...answers].map(([key, { answer, ...about }]) => [key, toList(about), answer]),
    asked: [...asked].map(([key, about]) => [key, toList(about)]),
    steps: Object.fromEntries(steps) as JsonObject,
    reports,
    ...(progress === undefined ? {} : { progress }),
    ...(given === undefined ? {} : { given }),
  };
}

/** @throws {RequestStateError} It was written by a version of this library that keeps other things. */
export function readRoundState(sealed: JsonObject): RoundState {
  if (sealed['layout'] !== LAYOUT) throw new RequestStateError('requestState is of another version of the server: start the request anew');
  const written = sealed as unknown as WrittenState;
  return {
    ...written,
    answers: new Map(written.answers.map(([key, about, answer]) => [key, { ...fromList(about), answer }])),
    asked: new Map(written.asked.map(([key, about]) => [key, fromList(about)])),
    steps: new Map(Object.entries(written.steps)),
    progress: written.progress,
    given: written.given,
  };
}

/** Nobody but this server can have written it, so its shape need not be checked. */
interface WrittenState {
  readonly chainId: string;
  readonly round: number;
  readonly answers: readonly (readonly [string, AskedList, JsonObject])[];
  readonly asked: readonly (readonly [string, AskedList])[];
  readonly steps: Readonly<Record<string, StepValue>>;
  readonly reports: number;
  readonly progress?: number;
  readonly given?: JsonValue;
}

type AskedList = readonly [Asked['method'], Asked['digest'], Asked['source'], Asked['text']];

function toList({ method, digest, source, text }: Asked): AskedList {
  return [method, digest, source, text];
}

function fromList([method, digest, source, text]: AskedList): Asked {
  return { method, digest, source, text };
}
