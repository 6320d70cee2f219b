/** Prompts: plain, with arguments and their completion, with a resource, with an image. */

import { completable, type McpServer } from '@mortise/server';
import { rank } from '@mortise/server/rank';
import { z } from 'zod';
import { redPixelPng } from './media.ts';

const suggestions = ['paris', 'park', 'party'];

export function addPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'A plain prompt' }, () => 'This is a simple prompt for testing.');
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt with two arguments',
      argsSchema: {
        arg1: completable(z.string().describe('The first argument'), (typed) => rank(typed, suggestions)),
        arg2: z.string().describe('The second argument'),
      },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt that carries a resource', argsSchema: { resourceUri: z.string().describe('Of the resource') } },
    ({ resourceUri }) => [
      {
        role: 'user',
        content: { type: 'resource', resource: { uri: resourceUri, mimeType: 'text/plain', text: 'The content of the resource.' } },
      },
      { role: 'user', content: { type: 'text', text: 'Please work with the resource above.' } },
    ],
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt that carries an image' }, () => [
    { role: 'user', content: { type: 'image', data: redPixelPng, mimeType: 'image/png' } },
    { role: 'user', content: { type: 'text', text: 'Please look at the image above.' } },
  ]);
}
