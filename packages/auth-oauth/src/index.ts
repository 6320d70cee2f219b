/** Authorization of MCP over HTTP: OAuth for clients (`/client`) and for servers (`/server`). */

export { type AnyAuthError, AuthOptionError } from './errors.ts';
