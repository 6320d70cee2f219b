/** `@mortise/protocol/checks`: checks messages received from clients and servers, without zod, and looks up capabilities. */

export { MAX_COMPLETION_VALUES } from './model/completion.ts';
export { block as checkContentBlock } from './checks/shapes.ts';
export { isInputRequired } from './model/input-required.ts';
export { isLevelEnabled, isLoggingLevel } from './model/logging.ts';
export { isProgressToken } from './model/progress.ts';
export { checkClientResult } from './checks/answers.ts';
export { checkClientNotification, checkClientParams } from './checks/from-client.ts';
export { checkListItem, checkServerNotification, checkServerParams, checkServerResult } from './checks/from-server.ts';
export { blocksOf, findBrokenToolUse, findMisusedTool } from './checks/tool-uses.ts';
export { checkJsonSchema, decodePointer, dialectOf, mapSubschemas } from './json-schema/check-json-schema.ts';
export { checkExtensionId, checkMetaKey, checkToolName, isReservedMetaKey } from './names.ts';
export { hasCapability, hasExtension, missingCapability, toCapabilities } from './capabilities.ts';
export { PARAM_HEADER_KEYWORD, readParamHeaders } from './param-headers.ts';
