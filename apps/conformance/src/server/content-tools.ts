/** Tools for each kind of content, and one that fails. */

import { type McpServer, ToolError } from '@mortise/server';
import { emptyWav, redPixelPng } from './media.ts';

const image = { type: 'image', data: redPixelPng, mimeType: 'image/png' } as const;

export function addContentTools(server: McpServer): void {
  server.registerTool('test_simple_text', { description: 'Returns text' }, () => 'This is a simple text response for testing.');
  server.registerTool('test_image_content', { description: 'Returns an image' }, () => image);
  server.registerTool('test_audio_content', { description: 'Returns a sound' }, () => ({
    type: 'audio',
    data: emptyWav,
    mimeType: 'audio/wav',
  }));
  server.registerTool('test_embedded_resource', { description: 'Returns a resource' }, () => ({
    type: 'resource',
    resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'This is an embedded resource.' },
  }));
  server.registerTool('test_multiple_content_types', { description: 'Returns text, an image and a resource' }, () => [
    { type: 'text', text: 'Several kinds of content:' },
    image,
    {
      type: 'resource',
      resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: JSON.stringify({ kind: 'mixed', value: 1 }) },
    },
  ]);
  server.registerTool('test_error_handling', { description: 'Always fails' }, () => {
    throw new ToolError('This tool fails on purpose.');
  });
}
