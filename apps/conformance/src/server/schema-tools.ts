/** Tools whose schemas are plain JSON: one that must reach clients as it is, and one with a parameter that travels in a header. */

import type { McpServer } from '@mortise/server';

const contactSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

export function addSchemaTools(server: McpServer): void {
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Takes what a rich JSON Schema allows', inputSchema: contactSchema },
    (args) => JSON.stringify(args),
  );
  server.registerTool(
    'test_x_mcp_header',
    {
      description: 'Takes a region that travels in a header too',
      inputSchema: {
        type: 'object',
        properties: {
          region: { type: 'string', description: 'Where', 'x-mcp-header': 'Region' },
          note: { type: 'string', description: 'Travels in the body alone' },
        },
      },
    },
    (args) => `region: ${String(args['region'] ?? 'none')}`,
  );
}
