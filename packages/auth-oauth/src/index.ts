/** `@mortise/auth-oauth`: what can go wrong. Signing in is at `/client` and, for what needs a machine, `/node`; protecting a server at `/server`. */

export {
  type AnyAuthError,
  AuthError,
  type AuthErrorCode,
  InsufficientScopeError,
  InvalidTokenError,
  SignInPendingError,
} from './errors.ts';
