/**
 * `mortise-codemod v1 --native`: imports of SDK v1 onto Mortise's own API where that is sure. A group of names moves if no file of the
 * folder uses a member, option or argument of it that differs here; otherwise it stays on `@mortise/compat-v1`, and each use is listed.
 */

import { compatV1 } from './compat-v1.ts';
import { findObstacles } from './find-obstacles.ts';
import type { Mapping } from './mapping.ts';
import { findNativeName, type Group } from './native-names.ts';

/** The mapping for a folder, given the groups that must stay on compat. */
export function nativeV1(staying: ReadonlySet<Group>): Mapping {
  return {
    ...compatV1,
    moveName: (specifier, name) => {
      const native = findNativeName(specifier, name);
      if (native === undefined || staying.has(native.group)) return compatV1.moveName(specifier, name);
      return { to: native.to, name: native.name };
    },
    find: (module) => findObstacles(module, findNativeName).map(({ line, what }) => ({ line, what })),
  };
}
