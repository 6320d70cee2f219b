import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { renderCommandLine } from '../make-command-line.ts';

it('says in docs/reference/command-line.md what the help of the command says', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/command-line.md'), 'utf8');
  expect(renderCommandLine(), 'run: npx tsx --conditions mortise-source scripts/make-command-line.ts').toBe(page);
});
