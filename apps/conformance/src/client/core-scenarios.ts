/** The scenarios of the protocol itself, in either era. */

import assert from 'node:assert/strict';
import type { AnswerOptions, McpClient } from '@mortise/client';
import { describeForm } from '@mortise/client/host';
import { z } from 'zod';
import { type Scenario, withClient } from './scenario.ts';

/** A server that declares nothing is only connected to. */
const connect = withClient(async () => undefined);

const listTools = withClient(async (client) => {
  await client.listTools();
});

/** Accepts every form with these values, and the form's defaults for the other fields. */
const accepting = (content: Record<string, string | number | boolean>): AnswerOptions => ({
  elicitation: ({ requestedSchema }) => ({ action: 'accept', content: { ...describeForm(requestedSchema).defaults, ...content } }),
});

const headerCalls = z.object({ toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()) })) });

export const coreScenarios: Readonly<Record<string, Scenario>> = {
  initialize: connect,
  'json-schema-ref-no-deref': listTools,

  tools_call: withClient(async (client) => {
    await client.listTools();
    await client.callTool('add_numbers', { a: 5, b: 3 });
  }),

  'elicitation-sep1034-client-defaults': withClient(async (client) => {
    await client.listTools();
    await client.callTool('test_client_elicitation_defaults');
  }, accepting({})),

  'sse-retry': withClient(async (client) => {
    await client.listTools();
    await client.callTool('test_reconnection');
  }),

  // Its server declares nothing that could be listed; asking it again sends a second request that is judged.
  'request-metadata': withClient(
    async (client) => {
      await client.discover();
    },
    {
      ...accepting({}),
      sampling: () => ({ role: 'assistant', model: 'none', content: { type: 'text', text: 'Nothing to say.' } }),
      roots: [{ uri: 'file:///workspace' }],
    },
  ),

  'http-standard-headers': withClient(useEverything),

  'http-custom-headers': withClient(async (client, { context }) => {
    await client.listTools();
    for (const call of headerCalls.parse(context).toolCalls) await client.callTool(call.name, z.json().parse(call.arguments) as never);
  }),

  'http-invalid-tool-headers': withClient(async (client) => {
    const { tools } = await client.listTools();
    for (const { name } of tools) await client.callTool(name, { region: 'eu' });
  }),

  'sep-2322-client-request-state': withClient(
    async (client) => {
      await client.callTool('test_mrtr_echo_state');
      await client.callTool('test_mrtr_no_state');
      await client.callTool('test_mrtr_unrelated');
      await client.callTool('test_mrtr_no_result_type');
    },
    accepting({ confirmed: true }),
  ),

  'json-schema-2020-12-preservation': withClient(async (client) => {
    const { tools } = await client.listTools();
    const tool = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
    assert.ok(tool, 'the server lists no tool "json_schema_2020_12_tool"');
    await client.callTool('json_schema_echo', { schema: tool.inputSchema });
  }),
};

/** Lists and uses what the server has, each once. */
async function useEverything(client: McpClient): Promise<void> {
  const { tools } = await client.listTools();
  await client.callTool(tools[0]?.name ?? '');
  const { resources } = await client.listResources();
  await client.readResource(resources[0]?.uri ?? '');
  const { prompts } = await client.listPrompts();
  await client.getPrompt(prompts[0]?.name ?? '');
}
