/** `/experimental/tasks`: tasks, as v1 has them. */

export * from '../../types/tasks.ts';
export { type RelatedTaskMetadata, RelatedTaskMetadataSchema, type TaskCreationParams, TaskCreationParamsSchema } from '../../types.ts';
export * from '../../shared/responseMessage.ts';
export { ExperimentalClientTasks } from './client.ts';
export { assertClientRequestTaskCapability, assertToolsCallTaskCapability } from './helpers.ts';
export { InMemoryTaskMessageQueue, InMemoryTaskStore } from './stores/in-memory.ts';
export * from './interfaces.ts';
export { ExperimentalMcpServerTasks } from './mcp-server.ts';
export { ExperimentalServerTasks } from './server.ts';
