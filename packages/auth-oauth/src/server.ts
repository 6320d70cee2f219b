/** `@mortise/auth-oauth/server`: protects a server with tokens. */

export { protect, type Protection, type ProtectOptions, toMetadataUrl } from './server/protect.ts';
export { jwtVerifier, type JwtVerifierOptions } from './server/jwt-verifier.ts';
export { introspectionVerifier, type IntrospectionVerifierOptions } from './server/introspection-verifier.ts';
export { dpopVerifier, type DpopVerifierOptions } from './server/dpop-verifier.ts';
export { anyVerifier } from './server/any-verifier.ts';
export { bearerVerifier, type BearerVerifierOptions } from './server/bearer-verifier.ts';
export { createTokenExchange, type TokenExchange, type TokenExchangeOptions, type UpstreamToken } from './server/token-exchange.ts';

// For verifiers and stores of one's own.
export type { TokenReader } from './server/token-reader.ts';
export { type Identity, toPrincipal } from './server/auth-info.ts';
export { MemoryReplayStore, type MemoryReplayStoreOptions } from './server/memory-replay-store.ts';
export { type AnyAuthServerError, InvalidTokenError, ProofError, TokenExchangeError, TokenSourceError } from './server/errors.ts';
export { AuthOptionError } from './errors.ts';
