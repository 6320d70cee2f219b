/** `@mortise/auth-oauth/server`: protects a server with access tokens. */

export { protect, type Protection, type ProtectOptions } from './server/protect.ts';
export { jwtVerifier, type JwtVerifierOptions } from './server/jwt-verifier.ts';
export { introspectionVerifier, type IntrospectionVerifierOptions } from './server/introspection-verifier.ts';
export { dpopVerifier, type DpopVerifierOptions } from './server/dpop-verifier.ts';
export { anyVerifier, bearerVerifier } from './server/bearer-verifier.ts';
export { createTokenExchange, type TokenExchange, type TokenExchangeOptions, type UpstreamToken } from './server/token-exchange.ts';

// To write verifiers of your own.
export { InvalidTokenError } from './errors.ts';
export { type TokenReader, toPrincipal } from './server/token-reader.ts';
