/**
 * `@mortise/protocol/schemas`: the types of `@mortise/protocol/model` as zod 4 schemas, for gateways and tests: params and results by
 * method, and the types inside them. Objects accept unknown members. The rest of Mortise never loads this entry: it uses hand-written
 * checks, and a property test proves that these and the schemas accept the same values.
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
