/** What answers do to the questions of a task. */

import type { JsonObject, JsonRpcErrorObject } from '@mortise/jsonrpc-core';
import type { TaskAsk, TaskRecord } from '@mortise/protocol/contracts';
import type { MakeChanges } from './task-writer.ts';
import { isEnded, isOutstanding, statusOf } from './transitions.ts';

/** What one answer is: a result, or the error that the other side refused with. */
export type GivenAnswer = { readonly answer: JsonObject } | { readonly error: JsonRpcErrorObject };

/** The changes that put answers to what is outstanding; undefined where there is nothing to change. */
export function withAnswers({ status, asks }: TaskRecord, answers: ReadonlyMap<string, GivenAnswer>): ReturnType<MakeChanges> {
  if (isEnded(status) || !asks.some((ask) => isOutstanding(ask) && answers.has(ask.key))) return undefined;
  const all = asks.map((ask) => (isOutstanding(ask) ? { ...ask, ...answers.get(ask.key) } : ask));
  return { asks: all, status: statusOf(all) };
}

/** What a task asked and nobody answered is of no use once it has ended. */
export function withdrawAll(asks: readonly TaskAsk[]): readonly TaskAsk[] {
  return asks.some(isOutstanding) ? asks.map((ask) => (isOutstanding(ask) ? { ...ask, isWithdrawn: true } : ask)) : asks;
}
