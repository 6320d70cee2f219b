/** What the table of the official SDKs' exports says of names that differ, or have another place here. */

import { ABSENT } from '../packages/codemod/src/v1.ts';

export type Reason = string;

/** v1: same name and path, and something is different. The key is the path and the name. */
export const differences: Readonly<Record<string, Reason>> = {
  'client/sse SSEClientTransport': 'of `eventSourceInit` only `fetch` has an effect, with the type of the global one',
  'client/sse SseError': '`event` is the error of ours that it stands for',
  'client/streamableHttp StreamableHTTPClientTransport': 'no `resumeStream`: broken streams are resumed by themselves',
  'client/streamableHttp StreamableHTTPError':
    'its message names the status and has no body, and its `code` is the status also where v1 has -1 (a response of another type)',
  'client/streamableHttp StreamableHTTPReconnectionOptions':
    'only `maxRetries` has an effect: the waits grow from half a second to 30 seconds',
  'shared/transport TransportSendOptions':
    '`resumptionToken` and `onresumptiontoken` have no effect: broken streams are resumed by themselves',
  'shared/protocol RequestOptions': '`resumptionToken` and `onresumptiontoken` have no effect: broken streams are resumed by themselves',
  'server/sse SSEServerTransport': '`Host` and `Origin` are always checked',
  'server/sse SSEServerTransportOptions': '`enableDnsRebindingProtection` has no effect: always on',
  'server/streamableHttp StreamableHTTPServerTransport': '`Host` and `Origin` are always checked',
  'server/streamableHttp StreamableHTTPServerTransportOptions':
    '`enableDnsRebindingProtection` and `keepAliveMs` have no effect: always on, and 15 seconds',
  'server/webStandardStreamableHttp WebStandardStreamableHTTPServerTransport':
    '`Host` and `Origin` are always checked: list pages in `allowedOrigins`',
  'server/webStandardStreamableHttp WebStandardStreamableHTTPServerTransportOptions':
    '`enableDnsRebindingProtection` and `keepAliveMs` have no effect: always on, and 15 seconds',
  'server/auth/providers/proxyProvider ProxyOAuthServerProvider': 'of the protected members only `endpoints`',
};

/** v1: paths that compat lacks as a whole. */
export const absentPaths: Readonly<Record<string, Reason>> = {
  'experimental/tasks/types': 'absent: import the same names from `/types`',
  'server/requestBody': 'absent: internal to v1; the limit is the option `maxRequestBodySize` of the transport',
  'server/sseKeepAlive': 'absent: internal to v1; comments go out every 15 seconds',
  'shared/mediaType': 'absent: internal to v1',
  'spec.types': 'absent: most are types of `/types` too; those of the specification as it is are in `@mortise/protocol/model`',
};

/** v2: names that we have too, and what is different about them. */
const differencesV2: Readonly<Record<string, Reason>> = {
  Server: 'differs: `Server` of `@mortise/server/low-level`, handlers by the name of their method; see the guide',
  ServerOptions: 'differs: `ServerOptions` of `@mortise/server/low-level`, without what the guide lists',
  Client: 'renamed: `McpClient` of `@mortise/client`',
  ClientOptions: 'differs: `ClientOptions` of `@mortise/client`, without `versionNegotiation` and what the guide lists',
  ConnectOptions: 'differs: `ConnectOptions` of `@mortise/client`, with `timeoutMs`',
  RequestOptions: 'differs: `CallOptions` of `@mortise/client`, with `timeoutMs` and `onProgress`',
  McpServerOptions: 'differs: `McpServerOptions` of `@mortise/server`, without what the guide lists',
  StreamableHTTPClientTransportOptions:
    'differs: `StreamableHTTPClientTransportOptions` of `@mortise/transport-http/client`, with `authorizer` in place of `authProvider`',
  Transport: 'differs: `Transport` of `@mortise/jsonrpc-core`; one that is written for the official SDK fits',
  EventStore: 'differs: `EventStore` of `@mortise/protocol/contracts`, with `append`, `replay` and `delete`',
  AuthInfo: 'differs: `AuthInfo` of `@mortise/protocol/contracts`, with other members',
  ProtocolError: 'differs: `ProtocolError` of `@mortise/jsonrpc-core` to throw, `RemoteError` of `@mortise/jsonrpc-core` to catch',
  InsufficientScopeError: 'differs: `InsufficientScopeError` of `@mortise/auth-oauth`, with other arguments',
  ResourceNotFoundError: 'differs: `ResourceNotFoundError` of `@mortise/client` to catch; a reader returns `undefined`',
  UrlElicitationRequiredError: 'differs: `UrlElicitationRequiredError` of `@mortise/server`, with other arguments',
  inputRequired: 'differs: `inputRequired` of `@mortise/server` takes other arguments; simpler is `await ctx.elicit(...)`',
  JsonSchemaValidator: 'differs: `JsonSchemaValidator` of `@mortise/protocol/contracts`, with `compile(schema)`',
  LoggingOptions: 'differs: `ClientMiddleware` of `@mortise/client` sees each call; `sender` or `fetch` each HTTP request',
  withLogging: 'differs: `ClientMiddleware` of `@mortise/client` sees each call; `sender` or `fetch` each HTTP request',
  Middleware: 'differs: `ClientMiddleware` of `@mortise/client` sees each call; `sender` or `fetch` each HTTP request',
  ResourceTemplate: 'the same, in `@mortise/server`',
  FetchLike: 'the same, in `@mortise/transport-http/client`',
  RegisteredTool: 'differs: `RegisteredTool` of `@mortise/server`, changed by `update`',
  RegisteredPrompt: 'differs: `RegisteredPrompt` of `@mortise/server`, changed by `update`',
  RegisteredResource: 'differs: `RegisteredResource` of `@mortise/server`, changed by `update`',
  RegisteredResourceTemplate: 'differs: `RegisteredResourceTemplate` of `@mortise/server`, changed by `update`',
};

const OAUTH = 'absent: a step of a sign-in, which `oauth` of `@mortise/auth-oauth/client` does as a whole';
const CONTEXT = 'differs: `HandlerContext` of `@mortise/server`; see "`extra` is `ctx`" in the guide';
const FACADE = 'differs: `createHttpHandler` of `@mortise/transport-http/server`, with `.fetch` and `.node`';
const GUARD = 'absent: `Host` and `Origin` are always checked; options `allowedHosts` and `allowedOrigins`';
const ERAS = 'absent: one server and one client speak every revision; `revisionsOf` of `@mortise/protocol` lists them';
const UNION = 'absent: a union of all messages; `JsonRpcMessage` of `@mortise/jsonrpc-core` is any of them';
const METHOD = 'absent: methods are texts, and params and results have a type each in `@mortise/protocol/model`';
const DPOP = 'differs: the option `dpop` of `oauth` of `@mortise/auth-oauth/client`';
const STRUCTURE = 'differs: `isJsonObject` and its like of `@mortise/jsonrpc-core/messages` tell messages apart';
const INPUT = 'differs: `await ctx.elicit(...)` resolves to the answer; `inputRequired` of `@mortise/server` for rounds by hand';
const SERVE_AUTH =
  'differs: the options `tokenVerifier` and `resourceMetadata` of `serveHttp` of `@mortise/transport-http/node` and the mounts';
const CACHE = 'differs: the client option `resultCache`, made by `createResultCache` of `@mortise/client`';

/** v2: what stands in the place of the names that we do not have. */
const placesV2: readonly (readonly [where: Reason, names: string])[] = [
  ['renamed: `StreamableHTTPServerTransport` of `@mortise/transport-http/server`', 'NodeStreamableHTTPServerTransport'],
  [
    'differs: `StreamableHTTPServerTransport` of `@mortise/transport-http/server`, by its `handleFetch`',
    'WebStandardStreamableHTTPServerTransport PerRequestHTTPServerTransport',
  ],
  [
    'differs: `StreamableHTTPServerTransportOptions` of `@mortise/transport-http/server`; see the guide',
    'WebStandardStreamableHTTPServerTransportOptions PerRequestHTTPServerTransportOptions PerRequestMessageExtra PerRequestResponseMode',
  ],
  ['differs: `HttpClientOptions` of `@mortise/transport-http/client`', 'SSEClientTransportOptions'],
  ['differs: `ReconnectionOptions` of `@mortise/transport-http/client`, only `maxRetries`', 'StreamableHTTPReconnectionOptions'],
  ['absent: broken streams are resumed by themselves, by timers in the process', 'ReconnectionScheduler StartSSEOptions'],
  ['differs: `ExchangeHttpError` of `@mortise/jsonrpc-core`, with `status`', 'SdkHttpError SdkHttpErrorData SseError'],
  ['differs: `MortiseError` of `@mortise/jsonrpc-core`, with a text as `code`', 'SdkError SdkErrorCode'],
  ['differs: `ErrorCode` of `@mortise/jsonrpc-core`', 'ProtocolErrorCode'],
  [
    'differs: `ProtocolError` of `@mortise/jsonrpc-core` with the code to throw, `RemoteError` of `@mortise/jsonrpc-core` to catch',
    'InternalError InvalidParamsError MethodNotFoundError',
  ],
  [
    'renamed: `MissingCapabilityError` of `@mortise/client`',
    'MissingRequiredClientCapabilityError MissingRequiredClientCapabilityErrorData',
  ],
  ['renamed: `UnsupportedVersionError` of `@mortise/client`', 'UnsupportedProtocolVersionError UnsupportedProtocolVersionErrorData'],
  ['differs: `SignInPendingError` of `@mortise/auth-oauth`', 'UnauthorizedError'],
  [
    'differs: `AuthError` of `@mortise/auth-oauth`, with a text as `code`',
    'OAuthError OAuthErrorCode OAuthErrorResponse OAuthClientFlowError OAuthClientRegistrationError AuthorizationServerMismatchError InsecureTokenEndpointError IssuerMismatchError RegistrationRejectedError',
  ],
  [
    FACADE,
    'createMcpHandler CreateMcpHandlerOptions McpHttpHandler McpHandlerRequestOptions HandleRequestOptions FetchLikeMcpHandler NodeMcpRequestHandler NodeIncomingMessageLike NodeServerResponseLike toNodeHandler ToNodeHandlerOptions toWebRequest ToWebRequestOptions readRequestBody',
  ],
  ['absent: one server serves all clients, so that nothing makes one for each request', 'McpServerFactory McpRequestContext'],
  ['differs: the option `maxBodyBytes` of `serveHttp` of `@mortise/transport-http/node` and the mounts', 'DEFAULT_MAX_REQUEST_BODY_SIZE'],
  [
    CONTEXT,
    'BaseContext ServerContext ClientContext MessageExtraInfo RequestHandlerSchemas ServerNotifier RequestStateAccessor NotificationOptions',
  ],
  ['differs: `Server` of `@mortise/server/low-level` and `McpClient` of `@mortise/client` have no common base', 'Protocol ProtocolOptions'],
  ['differs: `SendOptions` of `@mortise/jsonrpc-core/transport`', 'TransportSendOptions'],
  ['differs: `ToolHandler` of `@mortise/server`', 'ToolCallback BaseToolCallback AnyToolHandler'],
  ['differs: `PromptHandler` of `@mortise/server`', 'PromptCallback'],
  ['differs: `ResourceReader` of `@mortise/server`', 'ReadResourceCallback ReadResourceTemplateCallback'],
  ['differs: `ListResources` of `@mortise/server/types`', 'ListResourcesCallback'],
  ['differs: `Completer` of `@mortise/server/types`', 'CompleteCallback CompleteResourceTemplateCallback CompletableSchema isCompletable'],
  ['differs: `ResourceConfig` of `@mortise/server`', 'ResourceMetadata'],
  ['differs: `CacheOptions` of `@mortise/server/types`', 'CacheHint'],
  ['differs: `TemplateVariables` of `@mortise/server/types`', 'Variables'],
  [
    'differs: `AnySchema` of `@mortise/server/types`: a Standard Schema, a shape or plain JSON Schema',
    'StandardSchemaV1 StandardSchemaV1Sync StandardSchemaWithJSON fromJsonSchema JsonSchemaType',
  ],
  ['differs: the option `validator` of server and client', 'jsonSchemaValidator JsonSchemaValidatorResult'],
  [
    'differs: the schemas of `@mortise/protocol/schemas`',
    'specTypeSchemas isSpecType SpecTypes SpecTypeName isCallToolResult preloadSchemas',
  ],
  [INPUT, 'acceptedContent inputResponse InputResponseView InputRequiredSpec ElicitInputParams'],
  ['differs: `AnswerOptions` of `@mortise/client`', 'InputRequiredOptions withInputRequired isInputRequiredResult'],
  [
    'differs: `RequestStateOptions` of `@mortise/server`, or the option `stateKeys`',
    'RequestStateCodec RequestStateCodecOptions createRequestStateCodec',
  ],
  ['differs: `MessageBus` of `@mortise/protocol/contracts`', 'ServerEventBus ServerEvent'],
  ['renamed: `MemoryMessageBus` of `@mortise/protocol`', 'InMemoryServerEventBus'],
  ['absent: a text', 'EventId StreamId'],
  [
    CACHE,
    'CacheEntry CacheKey CacheMode CacheableRequestOptions InMemoryResponseCacheStore InMemoryResponseCacheStoreOptions ResponseCacheStore MAX_CACHE_TTL_MS',
  ],
  ['differs: `CallOptions` of `@mortise/client`', 'CallToolRequestOptions'],
  ['differs: `onProgress` of `CallOptions` of `@mortise/client`', 'ProgressCallback'],
  [
    'differs: `client.onToolsChanged` and its like of `McpClient` of `@mortise/client`',
    'ListChangedCallback ListChangedHandlers ListChangedOptions',
  ],
  ['differs: `Subscription` of `@mortise/client`', 'McpSubscription'],
  ['differs: `displayName` of `@mortise/client/host`', 'getDisplayName'],
  ['differs: `Era` of `@mortise/protocol`', 'ProtocolEra'],
  ['differs: `KnownEra` of `@mortise/client`, kept by `EraMemory` of `@mortise/client`', 'PriorDiscovery'],
  [
    ERAS,
    'VersionNegotiationMode VersionNegotiationOptions VersionNegotiationProbeOptions SUPPORTED_PROTOCOL_VERSIONS LATEST_PROTOCOL_VERSION DEFAULT_NEGOTIATED_PROTOCOL_VERSION isLegacyRequest IsLegacyRequestOptions LegacyHttpHandler legacyStatelessFallback LegacyStatelessFallbackOptions classifyInboundRequest InboundClassificationOutcome InboundHttpRequest InboundLadderRejection InboundLegacyRoute InboundLegacyRouteReason InboundModernRoute InboundValidationRung MessageClassification',
  ],
  ['differs: the option `requestTimeoutMs` of server and client', 'DEFAULT_REQUEST_TIMEOUT_MSEC'],
  ['differs: `META_CLIENT_CAPABILITIES` of `@mortise/protocol/wire`', 'CLIENT_CAPABILITIES_META_KEY'],
  ['differs: `META_CLIENT_INFO` of `@mortise/protocol/wire`', 'CLIENT_INFO_META_KEY'],
  ['differs: `META_LOG_LEVEL` of `@mortise/protocol/wire`', 'LOG_LEVEL_META_KEY'],
  ['differs: `META_PROTOCOL_VERSION` of `@mortise/protocol/wire`', 'PROTOCOL_VERSION_META_KEY'],
  ['differs: `META_RELATED_TASK` of `@mortise/protocol/wire`', 'RELATED_TASK_META_KEY'],
  ['differs: `META_SERVER_INFO` of `@mortise/protocol/wire`', 'SERVER_INFO_META_KEY'],
  ['differs: `META_SUBSCRIPTION_ID` of `@mortise/protocol/wire`', 'SUBSCRIPTION_ID_META_KEY'],
  ['differs: the option `tracer` of server and client', 'BAGGAGE_META_KEY TRACEPARENT_META_KEY TRACESTATE_META_KEY'],
  ['absent: the text "2.0"', 'JSONRPC_VERSION'],
  ['differs: the option `maxMessageBytes` of `stdioTransport` of `@mortise/transport-stdio/client`', 'STDIO_DEFAULT_MAX_BUFFER_SIZE'],
  ['absent: `readonly JsonValue[]`', 'JSONArray'],
  [
    STRUCTURE,
    'isJSONRPCErrorResponse isJSONRPCResultResponse isInitializedNotification isTaskAugmentedRequestParams assertCompleteRequestPrompt assertCompleteRequestResourceTemplate',
  ],
  ['differs: `parseJson` of `@mortise/jsonrpc-core/messages`', 'deserializeMessage parseJSONRPCMessage ReadBuffer'],
  ['absent: internal to v2', 'isJsonContentType MaybePromise createFetchWithInit mergeCapabilities getSupportedElicitationModes'],
  [UNION, 'ClientNotification ClientRequest ClientResult ServerNotification ServerRequest ServerResult'],
  [
    METHOD,
    'HandlerResultTypeMap NotificationTypeMap RequestTypeMap ResultTypeMap CancelTaskRequest DiscoverRequest GetTaskPayloadRequest GetTaskPayloadResult GetTaskRequest InitializedNotification ListPromptsRequest ListResourceTemplatesRequest ListResourcesRequest ListTasksRequest ListToolsRequest PingRequest PromptListChangedNotification ResourceListChangedNotification RootsListChangedNotification ToolListChangedNotification UnsubscribeRequest UnsubscribeRequestParams ResourceRequestParams ResourceTemplateType',
  ],
  ['differs: `CompleteRequestParams` of `@mortise/protocol/model`', 'CompleteRequestPrompt CompleteRequestResourceTemplate'],
  [
    'differs: `CreateMessageRequestParams` of `@mortise/protocol/model`',
    'CreateMessageRequestParamsBase CreateMessageRequestParamsWithTools',
  ],
  ['differs: `CreateMessageResult` of `@mortise/protocol/model`', 'CreateMessageResultWithTools'],
  ['differs: `SamplingMessageContentBlock` of `@mortise/protocol/model`', 'SamplingContent'],
  ['differs: `CallToolResult` of `@mortise/protocol/model`', 'CompatibilityCallToolResult'],
  ['differs: `TaskMetadata` of `@mortise/protocol/model`', 'TaskAugmentedRequestParams TaskCreationParams'],
  [
    'differs: `MetaObject` of `@mortise/protocol/model`',
    'RequestMeta RequestMetaEnvelope RequestMetaObject ResultMetaObject SubscriptionsListenResultMeta',
  ],
  [
    GUARD,
    'HostHeaderValidationResult OriginValidationResult hostHeaderValidation hostHeaderValidationResponse localhostAllowedHostnames localhostAllowedOrigins localhostHostValidation localhostOriginValidation originValidation originValidationResponse validateHostHeader validateOriginHeader',
  ],
  [
    SERVE_AUTH,
    'AuthMetadataOptions BearerAuthOptions bearerAuthChallengeResponse buildOAuthProtectedResourceMetadata getOAuthProtectedResourceMetadataUrl oauthMetadataResponse requireBearerAuth verifyBearerToken VerifyBearerTokenOptions',
  ],
  ['differs: `TokenVerifier` of `@mortise/protocol/contracts`', 'OAuthTokenVerifier'],
  ['differs: the option `scopes` of a tool, checked by the server', 'requireScopes ScopeChallenge ScopeChallengeHandler'],
  [
    'differs: `Authorizer` of `@mortise/protocol/contracts`, made by `oauth` of `@mortise/auth-oauth/client`',
    'AuthProvider OAuthClientProvider auth AuthOptions AuthResult withOAuth',
  ],
  [
    'differs: `ClientMiddleware` of `@mortise/client` sees each call; `sender` or `fetch` each HTTP request',
    'applyMiddlewares createMiddleware RequestLogger',
  ],
  [
    'differs: `clientCredentials` of `@mortise/auth-oauth/client`',
    'ClientCredentialsProvider ClientCredentialsProviderOptions PrivateKeyJwtProvider PrivateKeyJwtProviderOptions StaticPrivateKeyJwtProvider StaticPrivateKeyJwtProviderOptions createPrivateKeyJwtAuth AssertionCallback',
  ],
  [
    'differs: `enterpriseManaged` of `@mortise/auth-oauth/client`',
    'CrossAppAccessContext CrossAppAccessProvider CrossAppAccessProviderOptions DiscoverAndRequestJwtAuthGrantOptions IdJagTokenExchangeResponse JwtAuthGrantResult RequestJwtAuthGrantOptions discoverAndRequestJwtAuthGrant exchangeJwtAuthGrant requestJwtAuthorizationGrant',
  ],
  [
    DPOP,
    'DPOP_SUPPORTED_ALGS DpopAlg DpopKeyPair DpopProofRequest DpopSession DpopSessionSource DpopTokenSource GenerateDpopKeyPairOptions accessTokenHash generateDpopKeyPair isDpopNonceChallenge withDpop withDpopFromProvider',
  ],
  [
    'differs: `CredentialStore` of `@mortise/protocol/contracts` keeps them',
    'OAuthTokens StoredOAuthTokens StoredOAuthClientInformation OAuthClientInformation OAuthClientInformationContext OAuthClientInformationFull OAuthClientInformationMixed OAuthDiscoveryState',
  ],
  [
    'differs: `clientMetadataDocument` of `@mortise/auth-oauth/client`',
    'OAuthClientMetadata resolveClientMetadata validateClientMetadataUrl',
  ],
  [
    'differs: `findAuthorization` of `@mortise/auth-oauth/client`',
    'AuthorizationServerMetadata OAuthMetadata OAuthProtectedResourceMetadata OAuthServerInfo OpenIdProviderDiscoveryMetadata OpenIdProviderMetadata buildDiscoveryUrls discoverAuthorizationServerMetadata discoverOAuthMetadata discoverOAuthProtectedResourceMetadata discoverOAuthServerInfo',
  ],
  [
    OAUTH,
    'AddClientAuthentication ClientAuthMethod OAuthTokenRevocationRequest assertSecureTokenEndpoint checkResourceAllowed computeScopeUnion exchangeAuthorization extractResourceMetadataUrl extractWWWAuthenticateParams fetchToken isHttpsUrl isStrictScopeSuperset parseErrorResponse prepareAuthorizationCodeRequest refreshAuthorization registerClient resourceUrlFromServerUrl selectClientAuthMethod selectResourceURL startAuthorization validateAuthorizationResponseIssuer',
  ],
];

const placeOfV2 = new Map(placesV2.flatMap(([where, names]) => names.split(' ').map((name) => [name, where] as const)));

/** Says where a name of v1 is here, or why it is not; undefined if nobody has said. */
export function reasonOfV1(name: string): Reason | undefined {
  return ABSENT[name];
}

/**
 * Says where a name of v2 is here, or why it is not; undefined if nobody has said.
 *
 * @param entryOf Finds the entry of ours that exports a name.
 */
export function reasonOfV2(name: string, entryOf: (name: string) => string | undefined): Reason | undefined {
  const own = differencesV2[name];
  if (own !== undefined) return own;
  const entry = entryOf(name);
  if (entry !== undefined) return `the same, in \`${entry}\``;
  const [words, params] = [name.replace('JSONRPC', 'JsonRpc').replace(/^JSON/, 'Json'), `${name}Params`];
  const [wordsEntry, paramsEntry] = [entryOf(words), entryOf(params)];
  if (wordsEntry !== undefined) return `renamed: \`${words}\` of \`${wordsEntry}\``;
  if (paramsEntry !== undefined) return `differs: \`${params}\` of \`${paramsEntry}\`; the method is a text`;
  return placeOfV2.get(name);
}
