/** `/types`: v1's schemas and types of every message, and its errors. */

export * from './types/content.ts';
export * from './types/elicitation.ts';
export * from './types/errors.ts';
export * from './types/initialize.ts';
export * from './types/messages.ts';
export * from './types/prompts.ts';
export * from './types/resources.ts';
export * from './types/sampling.ts';
export * from './types/sides.ts';
export * from './types/tasks.ts';
export * from './types/tools.ts';

// Older names.
export { isJSONRPCErrorResponse as isJSONRPCError, isJSONRPCResultResponse as isJSONRPCResponse } from './types/messages.ts';
export { JSONRPCErrorResponseSchema as JSONRPCErrorSchema } from './types/messages.ts';
export { ResourceTemplateReferenceSchema as ResourceReferenceSchema } from './types/prompts.ts';
// The params of these requests are the same.
export {
  ResourceRequestParamsSchema as ReadResourceRequestParamsSchema,
  ResourceRequestParamsSchema as SubscribeRequestParamsSchema,
  ResourceRequestParamsSchema as UnsubscribeRequestParamsSchema,
} from './types/resources.ts';
