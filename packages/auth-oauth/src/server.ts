/** `@mortise/auth-oauth/server`: protects a server with tokens. */

export { type AnyAuthError, AuthOptionError } from './errors.ts';
