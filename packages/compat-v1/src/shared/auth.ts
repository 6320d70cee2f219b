/** `/shared/auth`: v1's schemas and types of OAuth documents, requests and responses. */

import * as z from 'zod/v4';

const SCRIPTS = ['javascript:', 'data:', 'vbscript:'];
const text = z.string().optional();
const texts = z.array(z.string()).optional();
const flag = z.boolean().optional();
/** Who issued a stored value. `auth()` adds it before it stores, and compares it when it reads. It is never on the wire. */
const stamp = z.string().optional().catch(undefined);

/** A URL that does not run a script when it is opened. */
export const SafeUrlSchema = z.url().refine((url) => URL.canParse(url) && !SCRIPTS.includes(new URL(url).protocol), {
  message: 'URL cannot use javascript:, data:, or vbscript: scheme',
});
const safeUrl = SafeUrlSchema.optional();
/** As `SafeUrlSchema`; an empty string counts as absent. */
export const OptionalSafeUrlSchema = safeUrl.or(z.literal('').transform(() => undefined));

/** @see RFC 9728 section 2 */
export const OAuthProtectedResourceMetadataSchema = z.looseObject({
  resource: z.url(),
  authorization_servers: z.array(SafeUrlSchema).optional(),
  jwks_uri: z.url().optional(),
  scopes_supported: texts,
  bearer_methods_supported: texts,
  resource_signing_alg_values_supported: texts,
  resource_name: text,
  resource_documentation: text,
  resource_policy_uri: z.url().optional(),
  resource_tos_uri: z.url().optional(),
  tls_client_certificate_bound_access_tokens: flag,
  authorization_details_types_supported: texts,
  dpop_signing_alg_values_supported: texts,
  dpop_bound_access_tokens_required: flag,
});

/** What metadata of OAuth 2.0 and of OpenID Connect have in common. */
const serverMembers = {
  issuer: z.string(),
  authorization_endpoint: SafeUrlSchema,
  token_endpoint: SafeUrlSchema,
  registration_endpoint: safeUrl,
  scopes_supported: texts,
  response_types_supported: z.array(z.string()),
  response_modes_supported: texts,
  grant_types_supported: texts,
  token_endpoint_auth_methods_supported: texts,
  token_endpoint_auth_signing_alg_values_supported: texts,
  client_id_metadata_document_supported: flag,
};

/** @see RFC 8414 section 2 */
export const OAuthMetadataSchema = z.looseObject({
  ...serverMembers,
  service_documentation: safeUrl,
  revocation_endpoint: safeUrl,
  revocation_endpoint_auth_methods_supported: texts,
  revocation_endpoint_auth_signing_alg_values_supported: texts,
  introspection_endpoint: text,
  introspection_endpoint_auth_methods_supported: texts,
  introspection_endpoint_auth_signing_alg_values_supported: texts,
  code_challenge_methods_supported: texts,
});

/** @see OpenID Connect Discovery 1.0 section 3 */
export const OpenIdProviderMetadataSchema = z.looseObject({
  ...serverMembers,
  userinfo_endpoint: safeUrl,
  jwks_uri: SafeUrlSchema,
  acr_values_supported: texts,
  subject_types_supported: z.array(z.string()),
  id_token_signing_alg_values_supported: z.array(z.string()),
  id_token_encryption_alg_values_supported: texts,
  id_token_encryption_enc_values_supported: texts,
  userinfo_signing_alg_values_supported: texts,
  userinfo_encryption_alg_values_supported: texts,
  userinfo_encryption_enc_values_supported: texts,
  request_object_signing_alg_values_supported: texts,
  request_object_encryption_alg_values_supported: texts,
  request_object_encryption_enc_values_supported: texts,
  display_values_supported: texts,
  claim_types_supported: texts,
  claims_supported: texts,
  service_documentation: text,
  claims_locales_supported: texts,
  ui_locales_supported: texts,
  claims_parameter_supported: flag,
  request_parameter_supported: flag,
  request_uri_parameter_supported: flag,
  require_request_uri_registration: flag,
  op_policy_uri: safeUrl,
  op_tos_uri: safeUrl,
});

/** OpenID Connect metadata and `code_challenge_methods_supported`. Unknown members are dropped. */
export const OpenIdProviderDiscoveryMetadataSchema = z.object({
  ...OpenIdProviderMetadataSchema.shape,
  code_challenge_methods_supported: texts,
});

/** The response of a token endpoint. */
export const OAuthTokensSchema = z.object({
  access_token: z.string(),
  id_token: text,
  token_type: z.string(),
  expires_in: z.coerce.number().optional(),
  scope: text,
  refresh_token: text,
  issuer: stamp,
});

export const OAuthErrorResponseSchema = z.object({ error: z.string(), error_description: text, error_uri: text });

/** @see RFC 7591 section 2 */
export const OAuthClientMetadataSchema = z.object({
  redirect_uris: z.array(SafeUrlSchema),
  token_endpoint_auth_method: text,
  grant_types: texts,
  response_types: texts,
  client_name: text,
  client_uri: safeUrl,
  logo_uri: OptionalSafeUrlSchema,
  scope: text,
  contacts: texts,
  tos_uri: OptionalSafeUrlSchema,
  policy_uri: text,
  jwks_uri: safeUrl,
  jwks: z.unknown().optional(),
  software_id: text,
  software_version: text,
  software_statement: text,
});

export const OAuthClientInformationSchema = z.object({
  client_id: z.string(),
  client_secret: text,
  client_id_issued_at: z.number().optional(),
  client_secret_expires_at: z.number().optional(),
  issuer: stamp,
});

/** The response to a registration. @see RFC 7591 section 3.2.1 */
export const OAuthClientInformationFullSchema = z.object({ ...OAuthClientMetadataSchema.shape, ...OAuthClientInformationSchema.shape });

export const OAuthClientRegistrationErrorSchema = z.object({ error: z.string(), error_description: text });

/** @see RFC 7009 section 2.1 */
export const OAuthTokenRevocationRequestSchema = z.object({ token: z.string(), token_type_hint: text });

export type OAuthMetadata = z.infer<typeof OAuthMetadataSchema>;
export type OpenIdProviderMetadata = z.infer<typeof OpenIdProviderMetadataSchema>;
export type OpenIdProviderDiscoveryMetadata = z.infer<typeof OpenIdProviderDiscoveryMetadataSchema>;
export type OAuthTokens = z.infer<typeof OAuthTokensSchema>;
export type OAuthErrorResponse = z.infer<typeof OAuthErrorResponseSchema>;
export type OAuthClientMetadata = z.infer<typeof OAuthClientMetadataSchema>;
export type OAuthClientInformation = z.infer<typeof OAuthClientInformationSchema>;
export type OAuthClientInformationFull = z.infer<typeof OAuthClientInformationFullSchema>;
export type OAuthClientInformationMixed = OAuthClientInformation | OAuthClientInformationFull;
export type OAuthClientRegistrationError = z.infer<typeof OAuthClientRegistrationErrorSchema>;
export type OAuthTokenRevocationRequest = z.infer<typeof OAuthTokenRevocationRequestSchema>;
export type OAuthProtectedResourceMetadata = z.infer<typeof OAuthProtectedResourceMetadataSchema>;
export type AuthorizationServerMetadata = OAuthMetadata | OpenIdProviderDiscoveryMetadata;
