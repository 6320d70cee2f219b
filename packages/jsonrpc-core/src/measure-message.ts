/** How much of this side's memory a message takes while it is worked on: what `MessageInfo.bytes` tells. */

import { countUpTo, hasMoreBrackets } from './search-text.ts';
import { weighUsualText } from './weigh-text.ts';

/** So short a text becomes little whatever it holds, so that the number of messages alone bounds it. */
const LEAST_LENGTH_LOOKED_AT = 256;
/** From which length on a message is told however little it becomes. */
const LEAST_LENGTH_TOLD = 1024;
/** From which length on what it becomes is looked at in any case. */
const LEAST_LENGTH_WEIGHED = 16 * 1024;
/** How many arrays and objects, and how many commas, a shorter one may have before it is looked at. */
const MOST_PARTS_UNWEIGHED = 16;
/** How much a message becomes that is not told, with less than the length above: messages that mean something mostly become less. */
const MOST_BYTES_UNTOLD = 8 * 1024;

/**
 * Says how many bytes a message is to count as while it is in flight, for `MessageInfo.bytes`: those of its text in UTF-8, or those that its value takes
 * in memory where these are more, as they are where it consists of many small parts.
 *
 * @param text The message as it came.
 * @param message What became of the text. Only requests and batches stay in flight; of anything else nothing is told.
 * @returns undefined where nothing need be told, as of a short message.
 */
export function measureMessage(text: string, message: unknown): number | undefined {
  if (text.length < LEAST_LENGTH_LOOKED_AT || !isAsking(message)) return undefined;
  const weight = text.length >= LEAST_LENGTH_WEIGHED || hasManyParts(text) ? weighUsualText(text) : 0;
  if (text.length >= LEAST_LENGTH_TOLD) return Math.max(countBytes(text), weight);
  return weight > MOST_BYTES_UNTOLD ? weight : undefined;
}

function isAsking(message: unknown): boolean {
  return typeof message === 'object' && message !== null && (Array.isArray(message) || ('method' in message && 'id' in message));
}

function hasManyParts(text: string): boolean {
  return hasMoreBrackets(text, MOST_PARTS_UNWEIGHED) || countUpTo(text, ',', MOST_PARTS_UNWEIGHED) > MOST_PARTS_UNWEIGHED;
}

const { Buffer } = globalThis as { Buffer?: { byteLength(text: string): number } };

/** How many bytes a text has in UTF-8. */
export function countBytes(text: string): number {
  return Buffer ? Buffer.byteLength(text) : new TextEncoder().encode(text).length;
}
