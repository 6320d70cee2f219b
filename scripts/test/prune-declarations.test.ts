/** What is published of the declarations: what entries are made of, and no more. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pruneDeclarations } from '../prune-declarations.mjs';

/** As tsc writes them. */
const files = {
  'index.d.ts': `/** The entry. */
import type { Reached } from './parts/part.ts';
export { used, type Options } from './used.ts';
export type Own = Reached;
//# sourceMappingURL=index.d.ts.map`,
  'used.d.ts': `/** Head. */
import { type Inner, unusedHere } from './parts/part.ts';
import type { Core } from './core.ts';
/** What {@link Core} is no longer said of: import('./comment.ts'). */
export interface Options {
    readonly inner: Inner;
}
export declare function used(options: Options): void;
/** Ours. */
export declare function build(core: Core): typeof unusedHere;
//# sourceMappingURL=used.d.ts.map`,
  'core.d.ts': 'export interface Core {\n    readonly a: 1;\n}\n',
  'parts/part.d.ts': `import '../augmented.ts';
export type Reached = 1;
export type Inner = 2;
export declare const unusedHere: 3;
`,
  'augmented.d.ts': `import type { Added } from './added.ts';
declare module './parts/part.ts' {
    interface More extends Added {
    }
}
`,
  'added.d.ts': 'export interface Added {\n}\n',
  'stray.d.ts': 'export type Stray = 1;\n',
};

let folder: string;
const read = (file: string): string => readFileSync(join(folder, file), 'utf8');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mortise-declarations-'));
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
    writeFileSync(join(folder, `${file}.map`), '{}');
  }
  await pruneDeclarations(folder, [join(folder, 'index.d.ts')]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('pruneDeclarations', () => {
  it('leaves an entry as it is', () => {
    expect(read('index.d.ts')).toBe(files['index.d.ts']);
  });

  it('takes out declarations that no entry is made of, and names that only they import', () => {
    const text = read('used.d.ts');
    expect(text).toContain("import { type Inner } from './parts/part.ts';");
    expect(text).toContain('export declare function used(options: Options): void;');
    for (const gone of ['unusedHere', "'./core.ts'", 'build', 'Ours']) expect(text).not.toContain(gone);
  });

  it('leaves every line where it was, for the declaration maps', () => {
    const lines = files['used.d.ts'].split('\n');
    expect(read('used.d.ts').split('\n').indexOf('    readonly inner: Inner;')).toBe(lines.indexOf('    readonly inner: Inner;'));
    expect(read('used.d.ts').split('\n')).toHaveLength(lines.length);
  });

  it('deletes files of which nothing is left or which nothing leads to, with their maps', () => {
    for (const gone of ['core.d.ts', 'core.d.ts.map', 'stray.d.ts', 'stray.d.ts.map']) expect(existsSync(join(folder, gone))).toBe(false);
    expect(existsSync(join(folder, 'used.d.ts.map'))).toBe(true);
  });

  it('keeps augmentations, what they are made of, and the import that leads to them', () => {
    expect(read('parts/part.d.ts')).toContain("import '../augmented.ts';");
    expect(read('augmented.d.ts')).toBe(files['augmented.d.ts']);
    expect(read('added.d.ts')).toBe(files['added.d.ts']);
  });

  it('refuses a declaration that leads to no file', async () => {
    const broken = join(folder, 'broken.d.ts');
    writeFileSync(broken, "export { a } from './nowhere.ts';\n");
    await expect(pruneDeclarations(folder, [broken])).rejects.toThrow('nowhere');
  });
});
