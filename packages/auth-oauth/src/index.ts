/** `@mortise/auth-oauth`: the error classes. Sign-in is at `/client` and (for Node) `/node`; protection of servers is at `/server`. */

export {
  type AnyAuthError,
  AuthError,
  type AuthErrorCode,
  InsufficientScopeError,
  InvalidTokenError,
  SignInPendingError,
} from './errors.ts';
