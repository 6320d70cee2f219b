/** Answers what servers ask, by the program's handlers. Loaded when there is something to answer. */

import type { Clock, JsonObject } from '@mortise/jsonrpc-core';
import type { AnswerContext, AnswerOptions, AskLimits, ElicitationHandlers, SamplingHandler } from '../answers.ts';
import { AskRate } from './ask-rate.ts';
import { elicit } from './elicit.ts';
import { normalizeRoots } from './normalize-roots.ts';
import { OpenPages } from './open-pages.ts';
import { sample } from './sample.ts';

/** More than a person answers and a model is asked in good faith. */
const PER_MINUTE = 60;

export class Answerer {
  readonly pages: OpenPages = new OpenPages();
  readonly #elicitations: AskRate;
  readonly #samplings: AskRate;

  constructor({ elicitationsPerMinute, samplingsPerMinute }: AskLimits, clock: Clock) {
    this.#elicitations = new AskRate('elicitation', elicitationsPerMinute ?? PER_MINUTE, 'askLimits.elicitationsPerMinute', clock);
    this.#samplings = new AskRate('sampling', samplingsPerMinute ?? PER_MINUTE, 'askLimits.samplingsPerMinute', clock);
  }

  elicit(handlers: ElicitationHandlers, params: JsonObject, context: AnswerContext, isLocal: boolean): Promise<JsonObject> {
    const take = (): void => this.#elicitations.take();
    return elicit(handlers, params, context, { pages: this.pages, isLocal, take });
  }

  sample(handler: SamplingHandler, params: JsonObject, context: AnswerContext): Promise<JsonObject> {
    return sample(handler, params, context, () => this.#samplings.take());
  }

  async listRoots(given: NonNullable<AnswerOptions['roots']>, params: JsonObject, context: AnswerContext): Promise<JsonObject> {
    return { roots: normalizeRoots(typeof given === 'function' ? await given(params, context) : given) };
  }
}
