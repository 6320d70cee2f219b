/** What is deprecated says so where it is used, and what to use instead. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../run-command.mjs';

const packages = join(root, 'packages');

/** The text of every `@deprecated` tag in the sources, up to the end of its comment or the next tag. */
function findDeprecations(): { readonly where: string; readonly text: string }[] {
  // Reads only `src`: other folders have links to packages, and files that tests add and remove meanwhile.
  return readdirSync(packages)
    .filter((name) => existsSync(join(packages, name, 'src')))
    .flatMap((name) =>
      readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' }).map((file) => join(name, 'src', file)),
    )
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const source = readFileSync(join(packages, file), 'utf8');
      return [...source.matchAll(/@deprecated([\s\S]*?)(?=\n\s*\*\s*@|\*\/)/g)].map((match) => ({
        where: file,
        text: (match[1] ?? '').replace(/\s*\n\s*\*\s*/g, ' ').trim(),
      }));
    });
}

describe('deprecated parts of the public API', () => {
  const deprecations = findDeprecations();

  it('are marked: roots, sampling and logging among them', () => {
    expect(deprecations.length).toBeGreaterThan(5);
  });

  it.each(deprecations)('[DEPR-002] say what to use instead: $where "$text"', ({ text }) => {
    expect(text).toMatch(/\b(?:use|call|write|take|pass|give|instead|migrate)\b/i);
  });
});
