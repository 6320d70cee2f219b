import { expect, it } from 'vitest';
import { searchDocuments } from '../src/documents.ts';

it('puts documents first whose title has the words, and counts what they mention as it is', () => {
  const often = { path: 'often.md', title: 'Other', text: '# Other\nA transport, a transport and a transport.' };
  const titled = { path: 'titled.md', title: 'Transport', text: '# Transport\nHow bytes travel.' };
  const hits = searchDocuments([often, titled, { path: 'none.md', title: 'None', text: '# None' }], 'TRANSPORT', 5);
  expect(hits.map(({ document, mentions }) => [document.path, mentions])).toEqual([
    ['titled.md', 1],
    ['often.md', 3],
  ]);
});
