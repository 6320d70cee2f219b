import { readFile } from 'node:fs/promises';
import { transportCases } from '@mortise/transport-testkit';
import { expect, it } from 'vitest';

it('the README names every promise', async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  for (const { id } of transportCases) expect(readme).toMatch(new RegExp(`\\| ${id.split('.')[0]} \\|`));
});
