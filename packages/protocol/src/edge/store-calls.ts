/** What the stores in engines behind a connection have in common: how long a call waits, how texts and durations are passed, and their health. */

import type { StoresHealth } from '../contracts/cluster-stores.ts';

/** The longest time of `setTimeout`, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Waits for a promise. Rejects with an `Error` if it is not settled after `limitMs` milliseconds. */
export async function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${limitMs} ms`)), Math.min(limitMs, MAX_TIMER_MS));
  });
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer));
}

/** A text for an engine that takes no NUL and no half of a surrogate pair: one that has them is written so that no other is written in the same way. */
export function toStoredText(text: string): string {
  return /^\uE000|[\0\p{Surrogate}]/u.test(text) ? `\uE000${JSON.stringify(text)}` : text;
}

/** The text of which `toStoredText` made this. */
export function fromStoredText(stored: string): string {
  return stored.startsWith('\uE000') ? (JSON.parse(stored.slice(1)) as string) : stored;
}

/** A duration or a count for an engine: whole, and never more milliseconds than it can add to its time. */
export function toStoredInteger(ms: number): number {
  return Math.min(Math.ceil(ms), 9e15);
}

/** Reports on stores and a message bus by what became of a call of each. */
export async function checkStores(stores: Promise<unknown>, bus: Promise<unknown>): Promise<StoresHealth> {
  const [called, sent] = await Promise.allSettled([stores, bus]);
  const problems: string[] = [];
  if (called.status === 'rejected') problems.push(`The stores do not work: ${String(called.reason)}`);
  if (sent.status === 'rejected') problems.push(`The message bus gets no messages: ${String(sent.reason)}`);
  return { isUp: problems.length === 0, problems };
}
