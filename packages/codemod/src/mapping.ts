/** Where the names of the official packages are found here. */

import type { ParsedModule } from './module-references.ts';

/** The new place of a name, or of a whole module. */
export interface Move {
  /** The module to import from. Undefined: the name has no new place, and stays. */
  readonly to?: string | undefined;
  /** The name there, if it differs. */
  readonly name?: string | undefined;
  /** What a person has to do, if something is left. */
  readonly left?: string | undefined;
  /** Why the name stays, if its like may move. */
  readonly stays?: string | undefined;
}

/** Something in a file that a person has to look at. */
export interface Finding {
  /** The line, from 1. */
  readonly line: number;
  /** What the place is, and what to do. */
  readonly what: string;
}

export interface Mapping {
  /** The packages that `package.json` names and that this mapping replaces. */
  readonly packages: readonly string[];
  /** Whether a text names one of the official modules. */
  owns(text: string): boolean;
  /** Where a whole module is now: for `import * as`, `require`, mocks. */
  moveModule(specifier: string): Move;
  /** Where one name of a module is now. */
  moveName(specifier: string, name: string): Move;
  /** What else in a parsed file works differently and cannot be rewritten. */
  find(module: ParsedModule): readonly Finding[];
  /** In a file that imports our own packages: what an earlier run has moved, and whose kind stays now. */
  findTorn?(module: ParsedModule): readonly Finding[];
}
