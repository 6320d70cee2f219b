/** `@mortise/jsonrpc-core/encoding`: bytes and JSON values as text of which there is one spelling. */

export { fromBase64Url, toBase64, toBase64Url } from './encoding/base64.ts';
export { toCanonicalJson } from './encoding/to-canonical-json.ts';
export { toDigestKey } from './encoding/to-digest-key.ts';
