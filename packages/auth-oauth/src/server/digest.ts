/** SHA-256 and randomness as text that may stand in a URL, a header or a key. */

import { base64url } from 'jose';

/** The base64url of a text's SHA-256: what a secret is found by without being kept. */
export async function digest(text: string): Promise<string> {
  return base64url.encode(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));
}

/** 256 random bits. */
export function randomText(): string {
  return base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
}

/** Compares without telling by its time where two texts differ. Their lengths are no secret. */
export function isSameText(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let index = 0; index < one.length; index++) difference |= one.charCodeAt(index) ^ other.charCodeAt(index);
  return difference === 0;
}
