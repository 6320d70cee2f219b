/** What the table of the official SDKs' exports says of names that differ, or have another place here. */

export type Reason = string;

/** v1: same name and path, and something is different. The key is the path and the name. */
export const differences: Readonly<Record<string, Reason>> = {
  'client/sse SSEClientTransport': 'of `eventSourceInit` only `fetch` has an effect',
  'client/sse SseError': '`event` is the error of ours that it stands for',
  'client/streamableHttp StreamableHTTPClientTransport': 'no `resumeStream`: broken streams are resumed by themselves',
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

/** v1: names that compat lacks. */
const absentV1: Readonly<Record<string, Reason>> = {
  isWithinOrigin: 'internal to v1',
  followWithinOrigin: 'internal to v1',
  fetchLeavingRedirects: 'internal to v1',
  fetchWithinOrigin: 'internal to v1',
  unfollowedRedirect: 'internal to v1',
  StartSSEOptions: 'options of `resumeStream`, which is not here: broken streams are resumed by themselves',
  BaseToolCallback: 'internal to v1: `ToolCallback` of `/server/mcp` is the type of a handler',
  ClientTasksCapabilitySchema: 'at `/types`, where v1 has it too',
  ServerTasksCapabilitySchema: 'at `/types`, where v1 has it too',
  CompletableDef: 'internal to v1',
  McpZodTypeKind: 'internal to v1',
  ZodV3Internal: 'internal to v1',
  ZodV4Internal: 'internal to v1',
  IsomorphicHeaders: 'a name of no use: `Record<string, string>`',
};

/** v2: names with the same use here. */
const sameV2: Readonly<Record<string, string>> = {
  McpServer: '@mortise/server',
  ResourceTemplate: '@mortise/server',
  completable: '@mortise/server',
  isInitializeRequest: '@mortise/protocol',
  InMemoryTransport: '@mortise/jsonrpc-core',
  StreamableHTTPClientTransport: '@mortise/transport-http/client',
  SSEClientTransport: '@mortise/transport-http/client',
};

/** v2: what stands in the place of a name, by the first pattern that it matches. */
const rulesV2: readonly (readonly [RegExp, Reason])[] = [
  [/^Client$/, 'renamed: `McpClient` of `@mortise/client`'],
  [/^NodeStreamableHTTPServerTransport/, 'renamed: `StreamableHTTPServerTransport` of `@mortise/transport-http/server`'],
  [
    /^WebStandardStreamableHTTPServerTransport|^createMcpHandler|^toNodeHandler|^toWebRequest|^McpHandler|^CreateMcpHandler|^McpHttpHandler|^NodeHandler|^FetchLikeMcpHandler|^HandleRequestOptions|^PerRequest|^NodeIncoming|^NodeServer/,
    'differs: `createHttpHandler(server)` of `@mortise/transport-http/server`, with `.fetch` and `.node`',
  ],
  [/^(?:serveStdio|ServeStdio|StdioServer)/, 'differs: `serveStdio(server)` of `@mortise/transport-stdio/server`'],
  [/^(?:StdioClient|DEFAULT_INHERITED_ENV|getDefaultEnvironment)/, 'differs: `stdioTransport` of `@mortise/transport-stdio/client`'],
  [
    /^Server$|^ServerOptions|^ServerContext|^BaseContext|^ClientContext|^McpRequestContext|^McpServerFactory|^ServerNotifier|^RequestHandler|^NotificationHandler|^RequestOptions|^NotificationOptions|^ProtocolOptions|^Protocol$|^mergeCapabilities/,
    'differs: `Server` of `@mortise/server/low-level`, `Context` of its handlers; see the guide',
  ],
  [
    /OAuth|^auth$|Auth|^exchange|^refreshAuthorization|^registerClient|^startAuthorization|^fetchToken|^prepare|^discover|^select|^extract|Bearer|Jwt|JWT|^resolve(?:Client|Scope)|ClientCredentials|CrossApp|^buildDiscovery|^parseErrorResponse|^isHttpsUrl|Issuer|^validateClientMetadataUrl|Insecure|^assertSecure|^computeScope|^isStrictScope|OpenId|^checkResourceAllowed|^resourceUrlFromServerUrl|^SafeUrl|^OptionalSafeUrl|Token|Grant|Credential|Scope|Registration|StepUp|IdJag|LoggingOptions|^withLogging|^applyMiddlewares|^createMiddleware|^Middleware$|^RequestLogger/,
    'differs: `oauth` and its like of `@mortise/auth-oauth/client`, `protect` and verifiers of `/server`; see [sign in](sign-in.md) and [protect a server](protect-a-server.md)',
  ],
  [
    /^(?:ProtocolError|SdkError|SdkHttpError|.*Error(?:Code|Options|Data)?$)/,
    'differs: errors of `@mortise/jsonrpc-core`: `ProtocolError` to throw, `RemoteError` and others to catch',
  ],
  [
    /Schema$|^isSpecType|^specType|^SpecType|^fromJsonSchema|^StandardSchema|^StandardJSONSchema|^standardSchema|^JsonSchema|^jsonSchema|^validateStandard|^promptArguments|Validator|^SchemaInput|^SchemaOutput|^AnySchema|^StandardTyped|^Zod/,
    'differs: zod schemas at `@mortise/protocol/schemas`; any Standard Schema or plain JSON Schema is a schema',
  ],
  [
    /InputRequired|^inputRequired|^inputResponse|^acceptedContent|InputRequest|InputResponse|RequestState|^requestState/,
    'differs: `await ctx.elicit(...)`, or `inputRequired` of `@mortise/server` with other arguments',
  ],
  [/EventBus|^InMemoryServerEventBus/, 'differs: `MessageBus` of `@mortise/protocol/contracts`, `MemoryMessageBus` of `/edge`'],
  [/EventStore|^EventId$|^StreamId$/, 'differs: `EventStore` of `@mortise/protocol/contracts`, with `append`, `replay` and `delete`'],
  [
    /Transport|^FetchLike$|^StartSSEOptions|^ReconnectionScheduler|^normalizeHeaders|^createFetchWithInit|MessageExtraInfo|^AuthInfo$|^RequestInfo$/,
    'differs: `Transport` of `@mortise/jsonrpc-core`',
  ],
  [
    /hostHeader|HostHeader|Origin|AllowedHost|localhost|Hostname/,
    'not needed: `Host` and `Origin` are always checked; options `allowedHosts`, `allowedOrigins`',
  ],
  [
    /[Ll]egacy|Era$|VersionNegotiation|PriorDiscovery|ProbeOptions|^SUPPORTED_|^LATEST_|^DEFAULT_NEGOTIATED|PROTOCOL_VERSION|SupportedVersions|negotiat|Modern|^classify|Inbound|^CLIENT_|^LOG_LEVEL|^SERVER_INFO|_META_KEY$|^JSONRPC_VERSION|^RELATED_TASK|^SUBSCRIPTION_ID/,
    'not needed: one server and one client speak every revision; facts of each at `@mortise/protocol/revisions`',
  ],
  [/ResponseCache|Cache/, 'differs: the client option `cache`; see the reference of `@mortise/client`'],
  [/Subscription|ListChanged|listen|Listen/, 'differs: `client.onToolsChanged` and its like; `subscriptions/listen` is sent by itself'],
  [
    /Registered|^Tool(?:Callback|Handler|Config)|Callback$|^ResourceMetadata$|^Completable|^getCompleter|^isCompletable|^CompleteCallback|^ListResourcesCallback|^ResourceTemplate/,
    'differs: types of `registerTool` and its like in `@mortise/server`, such as `ToolHandler` and `RegisteredTool`',
  ],
  [
    /JSONRPC|^is[A-Z]|^parseJSONRPC|^serializeMessage|^deserializeMessage|^ReadBuffer|^RequestId$|^assert|^METHOD_NOT_FOUND|_ERROR$|^INVALID_|INTERNAL/,
    'differs: messages and their checks at `@mortise/jsonrpc-core/messages`',
  ],
  [
    /^ClientOptions|^ConnectOptions|^CallTool(?:Request)?Options|^Client[A-Z]/,
    'differs: options of `McpClient` of `@mortise/client`; messages at `@mortise/protocol`',
  ],
  [
    /(?:Params|Result|Content|Capabilities|Annotations|Info|Reference|Contents|Block|Message|Role|Root|Tool|Prompt|Resource|Progress|Cursor|Meta|MetaObject|Icon|Icons|Implementation|Level|Hint|Preferences|Task|Argument|Schema|Metadata|Status|Choice|Execution|Definition|Object|Value|Array)$/,
    'the types of `@mortise/protocol`, with the names of the specification and readonly members',
  ],
  [
    /Request(?:Method)?$|Notification(?:Method)?$|Method$|TypeMap$|Map$|^Request[A-Z]|^Notification[A-Z]|^Infer|^Server[A-Z]/,
    'differs: params and results of each method in the types of `@mortise/protocol`, as `ToolParams`; methods as text',
  ],
  [/UriTemplate|^Variables$/, 'differs: `UriTemplate` of `@mortise/protocol`'],
  [/[Dd]pop/, 'differs: the option `dpop` of `oauth` of `@mortise/auth-oauth/client`'],
  [/^oauthMetadata/, 'differs: the option `resourceMetadata` of `serveHttp` and the mounts'],
  [/^originValidation/, 'not needed: `Host` and `Origin` are always checked; options `allowedHosts`, `allowedOrigins`'],
  [
    /^CompleteRequest|^CreateMessage|^ResourceLink/,
    'the types of `@mortise/protocol`, with the names of the specification and readonly members',
  ],
  [
    /^AnyToolHandler|^McpServerOptions/,
    'differs: types of `registerTool` and its like in `@mortise/server`, such as `ToolHandler` and `RegisteredTool`',
  ],
  [
    /^NodeMcp|^ToNodeHandler|^ToWebRequest|^readRequestBody/,
    'differs: `createHttpHandler(server)` of `@mortise/transport-http/server`, with `.fetch` and `.node`',
  ],
  [/^StreamableHTTPReconnection/, 'differs: `ReconnectionOptions` of `@mortise/transport-http/client`, only `maxRetries`'],
  [/^MessageClassification|^getSupportedElicitation|^preloadSchemas|^MaybePromise/, 'not needed here'],
  [
    /^getDisplayName|^validateAndWarn|^validateToolName|ToolName|^DEFAULT_|^MAX_|Timeout|^[A-Z_]+$/,
    'not needed here, or an option of the same use',
  ],
];

/** Where a name is here, or why it is not; undefined if nobody has said. */
export function reasonOf(version: 'v1' | 'v2', name: string, _at: string): Reason | undefined {
  if (version === 'v1') return absentV1[name];
  const same = sameV2[name];
  if (same !== undefined) return `the same, in \`${same}\``;
  return rulesV2.find(([pattern]) => pattern.test(name))?.[1];
}
