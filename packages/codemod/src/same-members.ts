/** What is the same here of the official classes, member by member, and what differs under whatever name a program holds the object. */

/** What moves together. `free` names always move: they are the same with every server and client. */
export type Group = 'server' | 'client' | 'http-server' | 'http-client' | 'stdio-client' | 'free';

/** The members of an object, and the options and number of arguments of its constructor, that are the same here. */
export interface Same {
  readonly group: Group;
  readonly members: readonly string[];
  /** Which argument of the constructor holds the options. */
  readonly optionsAt: number;
  readonly options: readonly string[];
}

export const SAME: Readonly<Record<string, Same>> = {
  McpServer: {
    group: 'server',
    members: [
      'registerTool',
      'registerResource',
      'registerPrompt',
      'connect',
      'close',
      'sendToolListChanged',
      'sendResourceListChanged',
      'sendPromptListChanged',
    ],
    optionsAt: 1,
    options: ['capabilities', 'instructions'],
  },
  Client: {
    group: 'client',
    members: [
      'connect',
      'close',
      'listTools',
      'listPrompts',
      'listResources',
      'listResourceTemplates',
      'readResource',
      'getPrompt',
      'complete',
      'callTool',
      'ping',
      'setLoggingLevel',
      'subscribeResource',
      'unsubscribeResource',
      'sendRootsListChanged',
      'getServerCapabilities',
      'getServerVersion',
      'getInstructions',
    ],
    optionsAt: 1,
    options: [],
  },
  StreamableHTTPServerTransport: {
    group: 'http-server',
    members: ['handleRequest', 'sessionId', 'onclose', 'onerror', 'close'],
    optionsAt: 0,
    options: [
      'sessionIdGenerator',
      'enableJsonResponse',
      'onsessioninitialized',
      'onsessionclosed',
      'retryInterval',
      'allowedHosts',
      'allowedOrigins',
    ],
  },
  StreamableHTTPClientTransport: {
    group: 'http-client',
    members: ['sessionId', 'close', 'terminateSession', 'onclose', 'onerror'],
    optionsAt: 1,
    options: ['requestInit', 'fetch'],
  },
  SSEClientTransport: { group: 'http-client', members: ['close', 'onclose', 'onerror'], optionsAt: 1, options: ['requestInit', 'fetch'] },
  StdioClientTransport: {
    group: 'stdio-client',
    members: ['close', 'onclose', 'onerror', 'pid'],
    optionsAt: 0,
    options: ['command', 'args', 'env', 'cwd'],
  },
};

/** The registering methods that v1 deprecates. */
export const OLD_METHODS: Readonly<Record<string, string>> = {
  tool: 'registerTool',
  resource: 'registerResource',
  prompt: 'registerPrompt',
};
export const REGISTER = new Set(['registerTool', 'registerResource', 'registerPrompt']);
/** What is the same in `extra` and in the context that handlers get here, and what only the context has: that is already written for it. */
export const CONTEXT_MEMBERS = new Set([
  ...['signal', 'sessionId', 'requestId', 'sendNotification', 'sendRequest'],
  ...['principal', 'auth', 'revision', 'era', 'client', 'meta', 'origin', 'app', 'state', 'run', 'log', 'progress', 'notify'],
  ...['closeStream', 'elicit', 'sample', 'listRoots', 'once', 'inputResponses', 'requestState', 'completeElicitation'],
]);
/** Members of servers and clients of v1 that differ here. They count under whatever name a function gets the object. */
const PROTOCOL = [
  ...['setRequestHandler', 'setNotificationHandler', 'removeRequestHandler', 'removeNotificationHandler', 'assertCanSetRequestHandler'],
  ...['fallbackRequestHandler', 'fallbackNotificationHandler', 'notification', 'request', 'onclose', 'onerror', 'registerCapabilities'],
];
export const INNER_SERVER = new Set([
  ...PROTOCOL,
  ...['elicitInput', 'createMessage', 'listRoots', 'oninitialized', 'getClientCapabilities', 'getClientVersion', 'sendLoggingMessage'],
]);
export const CLIENT = new Set([...PROTOCOL, 'experimental']);
