/** `@mortise/auth-oauth/client`: signs a client in to any conforming server. */

export { type AnyAuthError, AuthOptionError } from './errors.ts';
