/** One server with everything that the conformance suite's scenarios call by name. Each file beside this one adds one feature. */

import { McpServer } from '@mortise/server';
import { createTasks } from '@mortise/tasks/server';
import { addAskingTools } from './asking-tools.ts';
import { addContentTools } from './content-tools.ts';
import { addElicitationForms } from './elicitation-forms.ts';
import { addInputRequired } from './input-required.ts';
import { addPrompts } from './prompts.ts';
import { addReportingTools } from './reporting-tools.ts';
import { addResources } from './resources.ts';
import { addSchemaTools } from './schema-tools.ts';
import { addTaskTools } from './task-tools.ts';
import { addTriggers } from './triggers.ts';

/** Makes the server. The scenarios about headers call its first tool without arguments, so that one takes none. */
export function createEverythingServer(): McpServer {
  const tasks = createTasks();
  const server = new McpServer(
    { name: 'mortise-conformance', version: '1.0.0' },
    { capabilities: { logging: {} }, instructions: 'Made for the conformance suite.', extensions: [tasks] },
  );
  addContentTools(server);
  addReportingTools(server);
  addAskingTools(server);
  addElicitationForms(server);
  addInputRequired(server);
  addSchemaTools(server);
  addTaskTools(server, tasks);
  addTriggers(server);
  addResources(server);
  addPrompts(server);
  return server;
}
