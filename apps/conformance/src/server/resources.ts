/** Resources: text, bytes, a family, and one to subscribe to. */

import { Buffer } from 'node:buffer';
import { type McpServer, ResourceTemplate } from '@mortise/server';
import { redPixelPng } from './media.ts';

export function addResources(server: McpServer): void {
  server.registerResource(
    'static-text',
    'test://static-text',
    { description: 'Text', mimeType: 'text/plain' },
    () => 'This is the content of the static text resource.',
  );
  server.registerResource('static-binary', 'test://static-binary', { description: 'Bytes', mimeType: 'image/png' }, () =>
    Buffer.from(redPixelPng, 'base64'),
  );
  server.registerResource(
    'watched-resource',
    'test://watched-resource',
    { description: 'Something to subscribe to', mimeType: 'text/plain' },
    () => 'Nothing has changed yet.',
  );
  server.registerResource(
    'template-data',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'Data by id', mimeType: 'application/json' },
    (_uri, { id }) => JSON.stringify({ id, data: `Data for id ${String(id)}` }),
  );
}
