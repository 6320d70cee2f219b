/** `mcpServer.experimental.tasks`: registers tools that run as tasks. */

import type { McpServer } from '../../server/mcp.ts';
import type { RegisteredTool } from '../../server/mcp-types.ts';
import type { AnySchema, ZodRawShapeCompat } from '../../server/zod-compat.ts';
import type { ToolAnnotations, ToolExecution } from '../../types.ts';
import type { TaskToolExecution, ToolTaskHandler } from './interfaces.ts';

type Schemas = ZodRawShapeCompat | AnySchema;

export class ExperimentalMcpServerTasks {
  readonly #mcpServer: McpServer;

  constructor(mcpServer: McpServer) {
    this.#mcpServer = mcpServer;
  }

  /**
   * Registers a tool whose calls run as tasks. The server needs the option `taskStore`.
   *
   * @param config.execution Whether calls must be tasks. @default { taskSupport: 'required' }
   * @throws {Error} `taskSupport` is 'forbidden'.
   */
  registerToolTask<OutputArgs extends undefined | Schemas>(
    name: string,
    config: {
      title?: string;
      description?: string;
      outputSchema?: OutputArgs;
      annotations?: ToolAnnotations;
      execution?: TaskToolExecution;
      _meta?: Record<string, unknown>;
    },
    handler: ToolTaskHandler<undefined>,
  ): RegisteredTool;
  registerToolTask<InputArgs extends Schemas, OutputArgs extends undefined | Schemas>(
    name: string,
    config: {
      title?: string;
      description?: string;
      inputSchema: InputArgs;
      outputSchema?: OutputArgs;
      annotations?: ToolAnnotations;
      execution?: TaskToolExecution;
      _meta?: Record<string, unknown>;
    },
    handler: ToolTaskHandler<InputArgs>,
  ): RegisteredTool;
  registerToolTask(
    name: string,
    config: { execution?: ToolExecution; inputSchema?: Schemas; outputSchema?: Schemas | undefined },
    handler: unknown,
  ): RegisteredTool {
    const execution = { taskSupport: 'required' as const, ...config.execution };
    if (execution.taskSupport === 'forbidden')
      throw new Error(`Cannot register task-based tool '${name}' with taskSupport 'forbidden'. Use registerTool() instead.`);
    return this.#mcpServer._createRegisteredTool(name, { ...config, execution }, handler);
  }
}
