/** `@mortise/auth-oauth/node`: the parts that need a machine: the loopback listener, the file store and its lock, the browser. */

export { type AnyAuthError, AuthOptionError } from './errors.ts';
