/** Checks what a handler of the program answers, before a server gets it. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import { checkClientResult } from '@mortise/protocol/checks';
import { InvalidAnswerError } from '../errors.ts';

/** Gives the answer back. @throws {InvalidAnswerError} It is not an answer to this method. */
export function checkAnswer<Answer extends JsonObject>(method: string, answer: Answer): Answer {
  const problem = checkClientResult(method, answer);
  if (problem === undefined) return answer;
  throw new InvalidAnswerError(`the handler of "${method}" must give an answer to it: ${problem}`);
}
