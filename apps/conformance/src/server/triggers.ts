/** Tools that make the server tell its listeners that a list changed. */

import type { McpServer } from '@mortise/server';

export function addTriggers(server: McpServer): void {
  server.registerTool('test_trigger_tool_change', { description: 'Tells listeners that the tools changed' }, async () => {
    await server.sendToolListChanged();
    return 'Told.';
  });
  server.registerTool('test_trigger_prompt_change', { description: 'Tells listeners that the prompts changed' }, async () => {
    await server.sendPromptListChanged();
    return 'Told.';
  });
}
