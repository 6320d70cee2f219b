/** `@mortise/server/middleware`: ready-made middleware, and the types for writing your own. */

export { auditLog, type AuditLogOptions, type AuditOutcome, type AuditRecord } from './middleware/audit-log.ts';
export { RATE_LIMITED, rateLimit, type RateLimitOptions } from './middleware/rate-limit.ts';
export { sanitizeOutput } from './middleware/sanitize-output.ts';
export { createRedactor, redact, type RedactOptions, type Redactor } from './middleware/redact.ts';
export type { ClientFacts, Middleware, MiddlewareCall, NextMiddleware } from './middleware/middleware.ts';
