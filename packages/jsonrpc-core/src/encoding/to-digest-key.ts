/** Short names for what is known by its digest. */

/** 132 bits of a digest. */
const KEY_CHARACTERS = 22;

/**
 * Names a message by the first word of its method and the beginning of its digest: `elicitation-2jmj7l5rSw0yVb_vlWAYkK`.
 *
 * @param digest As base64url, of what tells the message from others.
 */
export function toDigestKey(method: string, digest: string): string {
  return `${method.split('/', 1)[0]}-${digest.slice(0, KEY_CHARACTERS)}`;
}
