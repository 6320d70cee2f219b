/** Forms whose schemas the suite looks at closely: defaults in each kind of field, and each way to write choices. */

import type { McpServer } from '@mortise/server';

const withDefaults = {
  type: 'object',
  properties: {
    name: { type: 'string', description: 'Name', default: 'John Doe' },
    age: { type: 'integer', description: 'Age', default: 30 },
    score: { type: 'number', description: 'Score', default: 95.5 },
    status: { type: 'string', description: 'Status', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', description: 'Verified', default: true },
  },
} as const;

const plainOptions = ['option1', 'option2', 'option3'];
const titledOptions = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];

const choices = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: plainOptions },
    titledSingle: { type: 'string', oneOf: titledOptions },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: plainOptions } },
    titledMulti: { type: 'array', items: { anyOf: titledOptions } },
  },
} as const;

export function addElicitationForms(server: McpServer): void {
  server.registerTool('test_elicitation_sep1034_defaults', { description: 'Asks by a form with defaults' }, async (ctx) => {
    const answer = await ctx.elicit({ message: 'Please check these values.', requestedSchema: withDefaults });
    return `action: ${answer.action}, content: ${JSON.stringify(answer.content ?? {})}`;
  });
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Asks by a form of choices' }, async (ctx) => {
    const answer = await ctx.elicit({ message: 'Please choose.', requestedSchema: choices });
    return `action: ${answer.action}, content: ${JSON.stringify(answer.content ?? {})}`;
  });
}
