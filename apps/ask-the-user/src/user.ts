/** The user, the user's model and the user's folders, as a host would bring them: here each is a small script. */

import type { ClientOptions } from '@mortise/client';

export const user: Pick<ClientOptions, 'elicitation' | 'sampling' | 'roots'> = {
  elicitation: () => ({ action: 'accept', content: { nights: 3 } }),
  sampling: ({ messages }) => {
    const content = messages.at(-1)?.content;
    const question = content && 'text' in content ? String(content['text']) : '';
    return { role: 'assistant', model: 'scripted', content: { type: 'text', text: question.toUpperCase() } };
  },
  roots: [{ uri: 'file:///home/ann/trips', name: 'Trips' }],
};
