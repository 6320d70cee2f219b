/** The guide shows the code of this app, word for word: what its tests prove holds for the guide. */

import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const read = (path: string): Promise<string> => readFile(new URL(path, import.meta.url), 'utf8');

it.each(['../src/newline-transport.ts', './newline-transport.test.ts'])(
  'docs/how-to/custom-transport.md shows %s as it is',
  async (path) => {
    const code = (await read(path)).replace("'../src/newline-transport.ts'", "'../../apps/swap-transport/src/newline-transport.ts'");
    expect(await read('../../../docs/how-to/custom-transport.md')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  },
);
