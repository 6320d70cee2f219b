/**
 * `@mortise/protocol/schemas`: every shape of the canonical model as a zod 4 schema, for gateways and tests: params and results by
 * method, and the types inside them. Objects are loose. The rest of Mortise checks messages by hand-written guards and never loads
 * this; a property test holds the two equal.
 */

export {
  CallToolResultSchema,
  CLIENT_RESULT_SCHEMAS,
  CreateTaskResultSchema,
  InputRequiredResultSchema,
  NOTIFICATION_SCHEMAS,
  PARAMS_SCHEMAS,
  SERVER_RESULT_SCHEMAS,
} from './schemas/methods.ts';
export {
  ClientCapabilitiesSchema,
  ContentBlockSchema,
  ImplementationSchema,
  LoggingLevelSchema,
  ModernRequestMetaSchema,
  PromptMessageSchema,
  PromptSchema,
  ResourceContentsSchema,
  ResourceSchema,
  ResourceTemplateSchema,
  RootSchema,
  SamplingMessageSchema,
  ServerCapabilitiesSchema,
  TaskSchema,
  ToolSchema,
} from './schemas/shapes.ts';
