/** `@mortise/protocol/wire`: the `_meta` keys and error codes of MCP, and functions that create and read them. */

export {
  META_CLIENT_CAPABILITIES,
  META_CLIENT_INFO,
  META_LOG_LEVEL,
  META_MODEL_IMMEDIATE_RESPONSE,
  META_PROGRESS_TOKEN,
  META_PROTOCOL_VERSION,
  META_RELATED_TASK,
  META_SERVER_INFO,
  META_SUBSCRIPTION_ID,
} from './model/meta.ts';
export {
  HEADER_MISMATCH,
  INSUFFICIENT_SCOPE,
  invalidParamsError,
  isModernError,
  MISSING_CLIENT_CAPABILITY,
  missingCapabilityError,
  readMissingCapabilities,
  readSupportedVersions,
  RESOURCE_NOT_FOUND_LEGACY,
  resourceNotFoundError,
  UNSUPPORTED_PROTOCOL_VERSION,
  unsupportedVersionError,
  URL_ELICITATION_REQUIRED,
  type UrlElicitationData,
  urlElicitationRequiredError,
} from './error-codes.ts';
export { isResourceNotFound } from './revisions/index.ts';
export { isModernParams, readRequestMeta } from './request-meta.ts';
