/** Handlers that catch `Suspended` and go on as if they had an answer. */

import { isMortiseError } from '@mortise/jsonrpc-core';
import type { RequestCall } from '../request-call.ts';
import type { ServerCore } from '../server-core.ts';
import type { RunOutcome } from './after-run.ts';
import { nameCall } from './ask-identity.ts';

/** How deep the causes of an error are looked into. */
const MAX_DEPTH = 5;
/** How many handlers a server remembers to have warned of; resources' names come from clients. */
const MAX_NAMES = 1_000;

const warned = new WeakMap<ServerCore, Set<string>>();

/** Whether a handler let `Suspended` pass, as it is or as the cause of its own error. */
export function passesOn(outcome: RunOutcome): boolean {
  return 'error' in outcome && holdsSuspended(outcome.error, MAX_DEPTH);
}

/** Tells the operator of a handler that did not, once. */
export function warnOnce(call: RequestCall, outcome: RunOutcome | undefined): void {
  const name = nameCall(call);
  let names = warned.get(call.core);
  if (!names) warned.set(call.core, (names = new Set()));
  if (names.has(name) || names.size >= MAX_NAMES) return;
  names.add(name);
  const did = !outcome ? 'goes on' : 'error' in outcome ? 'threw another error' : 'returned';
  call.core.logger.log(
    'warning',
    `${name} ${did} after its question went to the client: it caught Suspended, or waits for something else. What it does then is dropped, and it runs again with the answer: let Suspended pass`,
  );
}

function holdsSuspended(error: unknown, depth: number): boolean {
  if (isMortiseError(error) && error.code === 'ERR_SUSPENDED') return true;
  if (depth === 0 || !(error instanceof Error)) return false;
  try {
    const { cause, errors } = error as { readonly cause?: unknown; readonly errors?: unknown };
    return [cause, ...(Array.isArray(errors) ? (errors as readonly unknown[]) : [])].some((inner) => holdsSuspended(inner, depth - 1));
  } catch {
    return false;
  }
}
