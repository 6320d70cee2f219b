import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');

it('[TRAN-004] the README documents connection, framing, messages, metadata, cancellation and the end', () => {
  const section = /## Custom transport\n(.*?)\n## /s.exec(readme)?.[1] ?? '';
  for (const subject of ['Connection', 'Framing', 'Messages', 'Metadata', 'Cancellation', 'Authorization', 'Ending', 'Loss'])
    expect(section).toMatch(new RegExp(`^- \\*\\*${subject}\\*\\*: .{40}`, 'm'));
});

it('the README is at most 120 lines long', () => {
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
