/** `Check`: one thing that `doctor` tries, with the row of the specification that it shows. */

import type { JsonObject } from '@mortise/jsonrpc-core';
import type { Dialogue, EraName } from './dialogue.ts';
import type { Reply, Wire } from './wire.ts';

/** One thing to try in one era. */
export interface Check<W extends Wire = Wire> {
  /** The row of our ledger of the specification, or of our own bounds (`ROBUSTNESS-n`). */
  readonly row: string;
  /** What must hold, as a sentence. */
  readonly rule: string;
  /** What the server's author should do. */
  readonly remedy: string;
  /** The era that the rule belongs to. @default both */
  readonly era?: EraName;
  /** The capability without which there is nothing to try. */
  readonly needs?: string;
  /** Whether the specification only recommends it. */
  readonly isAdvice?: boolean;
  /** Whether it needs a connection of its own, on which nothing was sent yet. */
  readonly isFirst?: boolean;
  /** Tries it. @returns What is wrong, in words; undefined if all is well. */
  run(dialogue: Dialogue, wire: W): Promise<string | undefined> | string | undefined;
}

/** Expects an error with one of these codes. */
export function expectError({ message }: Reply, ...codes: readonly number[]): string | undefined {
  if (message === undefined) return 'it did not answer';
  const { code } = Object(message['error']) as { readonly code?: unknown };
  if (code === undefined) return 'it answered with a result';
  return codes.includes(code as number) ? undefined : `it answered with error ${JSON.stringify(code)}, not ${codes.join(' or ')}`;
}

/** Expects an HTTP status. */
export function expectStatus({ status }: Reply, ...statuses: readonly number[]): string | undefined {
  if (status === undefined) return 'it did not answer';
  return statuses.includes(status) ? undefined : `it answered with status ${status}, not ${statuses.join(' or ')}`;
}

/** The result of an answer; an empty object if there is none. */
export const resultOf = ({ message }: Reply): JsonObject => Object(message?.['result']) as JsonObject;

/** Names a few faults out of many. */
export function listFaults(faults: readonly string[]): string | undefined {
  if (faults.length === 0) return undefined;
  return faults.slice(0, 5).join('; ') + (faults.length > 5 ? `; and ${faults.length - 5} more` : '');
}
