/** `mortise-codemod v1`: every import of SDK v1 onto the same path of `@mortise/compat-v1`. */

import type { Mapping, Move } from './mapping.ts';
import { toCompat, V1_PACKAGE } from './v1-paths.ts';

const OFFICIAL = /@modelcontextprotocol\/sdk(?![\w-])/;

/** Moves modules as a whole: compat has every name of an entry that it has. */
export const compatV1: Mapping = {
  packages: [V1_PACKAGE],
  owns: (text) => OFFICIAL.test(text),
  moveModule: toMove,
  moveName: toMove,
  find: () => [],
};

function toMove(specifier: string): Move {
  const to = toCompat(specifier);
  return to === undefined
    ? { left: `"${specifier}" is no entry of @mortise/compat-v1: see the guide for what stands in its place` }
    : { to };
}
