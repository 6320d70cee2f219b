import { describe, expect, it, onTestFinished } from 'vitest';
import { reportPackage } from '../api-report.mjs';
import { writeTree } from './write-tree.ts';

const manifest = JSON.stringify({
  name: '@x/y',
  exports: { '.': { types: './dist/index.d.ts' }, './more': { types: './dist/more.d.ts' }, './package.json': './package.json' },
});

const writePackage = (files: Readonly<Record<string, string>>): string => writeTree({ 'package.json': manifest, ...files }, onTestFinished);

describe('the API report', () => {
  it('shows each name once, where it is declared, with its overloads and without comments', () => {
    const folder = writePackage({
      'dist/index.d.ts': "/** Entry. */\nexport { add as plus, type Shape } from './deep/add.js';\nexport { type Other } from '@x/z';\n",
      'dist/more.d.ts':
        "export { add as plus } from './deep/add.js';\nexport declare const limitBytes: 4;\n//# sourceMappingURL=more.d.ts.map\n",
      'dist/deep/add.d.ts':
        'interface Hidden {\n}\n/** Adds. */\nexport declare function add(a: number): number;\nexport declare function add(a: string): string;\n' +
        "export interface Shape {\n    /** How long. */\n    readonly lengthMm: number;\n}\ndeclare module '@x/z' {\n    interface Other {\n    }\n}\nexport {};\n",
    });
    expect(reportPackage(folder)).toBe(
      [
        '# @x/y: the API\n\nWritten by `npm run api` from the built declarations; review its changes.\n',
        '## @x/y\n\n```ts\n// Other: of @x/z\nexport interface Shape {\n    readonly lengthMm: number;\n}',
        'export declare function add(a: number): number;\nexport declare function add(a: string): string;\n```\n',
        '## @x/y/more\n\n```ts\nexport declare const limitBytes: 4;\n// plus: as at @x/y\n```\n',
        "## What it adds to other packages\n\n```ts\ndeclare module '@x/z' {\n    interface Other {\n    }\n}\n```\n",
      ].join('\n'),
    );
  });

  it('follows a module of which every type is exported on', () => {
    const folder = writePackage({
      'dist/index.d.ts': "export type * from './more.js';\n",
      'dist/more.d.ts': "export type * from './deep/a.js';\nexport type B = 2;\n",
      'dist/deep/a.d.ts': 'export type A = 1;\n',
    });
    expect(reportPackage(folder)).toContain('## @x/y\n\n```ts\nexport type A = 1;\nexport type B = 2;\n```');
  });

  it('fails for a name whose declaration it does not find', () => {
    const folder = writePackage({
      'dist/index.d.ts': "export { gone } from './more.js';\n",
      'dist/more.d.ts': 'export {};\n',
    });
    expect(() => reportPackage(folder)).toThrow('exports "gone"');
  });

  it.each([
    ["import { a } from './more.js';\nexport { a };\n", 'Modules export their own names where they declare them'],
    ['declare const a: 1;\nexport default a;\n', 'scripts/api-report.mjs does not know this form of an export'],
    ["export * from './more.js';\n", 'Entries list their values one by one'],
  ])('fails for an export that it would overlook: %j', (text, says) => {
    const folder = writePackage({ 'dist/index.d.ts': text, 'dist/more.d.ts': 'export declare const a: 1;\n' });
    expect(() => reportPackage(folder)).toThrow(says);
  });
});
