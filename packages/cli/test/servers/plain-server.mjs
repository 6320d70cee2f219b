/** A server written by hand that does everything right, but for the one fault that it is asked for. Both eras. */

const META = 'io.modelcontextprotocol/';
const MODERN = '2026-07-28';
const LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
const CAPABILITIES = { tools: {}, resources: {}, prompts: {} };
const SERVER = { name: 'plain', version: '1.0.0' };

const add = {
  name: 'add',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
};
const hello = { name: 'hello', inputSchema: { type: 'object' } };
/** Tools that `doctor --call` must not call. */
const wipe = { name: 'wipe', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };
const read = { name: 'read', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } };
const empty = { name: 'empty', inputSchema: { type: 'object', properties: {}, required: [] } };

class Refusal extends Error {
  constructor(code, message, data) {
    super(message);
    Object.assign(this, { code, data });
  }
}

const oneOf = (items, name, what, code = -32602) => {
  const found = items.find((item) => item.name === name || item.uri === name);
  if (!found) throw new Refusal(code, `Unknown ${what}`);
  return found;
};

/** @param {string} fault The one thing that goes wrong; anything else for nothing. */
export function createAnswerer(fault) {
  const tools = {
    'tool without schema': [{ name: 'add' }],
    'tool name with spaces': [add, { ...hello, name: 'say hello' }],
    'two tools of one name': [add, hello, hello],
    'schema that is no schema': [add, { ...hello, inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } }],
    'tools that must not be called': [add, wipe, read],
    'empty result of a tool with empty schemas': [add, empty],
    'output of another type': [add, { ...hello, outputSchema: { type: 'array' } }],
  }[fault] ?? [add, hello];
  const resources =
    fault === 'resource without a URI' ? [{ name: 'readme', uri: 'no-scheme' }] : [{ name: 'readme', uri: 'file:///readme' }];
  const prompts = fault === 'prompt without a name' ? [{ description: 'who am I' }] : [{ name: 'greet' }];

  const page = (member, items, params) => {
    if (fault === 'new pages without end') return { [member]: items, nextCursor: String(Number(params.cursor ?? 0) + 1) };
    if (fault === 'pages without end') return { [member]: items, nextCursor: 'again' };
    if (params.cursor !== undefined && fault !== 'any cursor') throw new Refusal(-32602, 'Unknown cursor');
    return { [member]: items };
  };
  const methods = {
    'tools/list': (params) => page('tools', fault === 'tools in any order' ? tools.reverse() : tools, params),
    'resources/list': (params) => page('resources', resources, params),
    'resources/templates/list': (params) => page('resourceTemplates', [], params),
    'prompts/list': (params) => page('prompts', prompts, params),
    'tools/call': ({ name }) => {
      if (fault === 'unknown tool called') return { content: [] };
      oneOf(tools, name, 'tool');
      if (fault === 'tool that starts a timer') setInterval(() => undefined, 1000);
      return fault === 'result without content' || name !== 'hello' ? {} : { content: [{ type: 'text', text: 'hello' }] };
    },
    'resources/read': ({ uri }, isModern) => {
      const code = (fault === 'wrong code for a resource') === isModern ? -32002 : -32602;
      return { contents: [{ ...oneOf(resources, uri, 'resource', code), text: 'Read me' }] };
    },
    'prompts/get': ({ name }) => (oneOf(prompts, name, 'prompt'), { messages: [] }),
  };

  function open(method, params, isModern) {
    if (isModern && method === 'server/discover' && fault !== 'one era only')
      return {
        supportedVersions: [MODERN],
        capabilities: fault === 'undeclared capability' ? { tools: {} } : CAPABILITIES,
        ...(fault === 'discovery without lifetime' ? {} : { ttlMs: 0, cacheScope: 'private' }),
      };
    if (!isModern && method === 'initialize') {
      const isKnown = LEGACY.includes(params.protocolVersion);
      if (!isKnown && fault === 'no counter-offer') throw new Refusal(-32602, 'Unsupported version');
      const capabilities = fault === 'undeclared capability' ? { tools: {} } : CAPABILITIES;
      const serverInfo = fault === 'server without a version' ? { name: 'plain' } : SERVER;
      return { protocolVersion: isKnown ? params.protocolVersion : LEGACY[0], capabilities, serverInfo };
    }
    if (!isModern && method === 'ping' && fault !== 'no ping') return {};
    return undefined;
  }

  function call(method, params) {
    const version = params._meta?.[`${META}protocolVersion`];
    const isModern = version !== undefined;
    if (isModern && version !== MODERN && fault !== 'any version')
      throw new Refusal(-32022, 'Unsupported version', fault === 'no list of versions' ? {} : { supported: [MODERN], requested: version });
    const result = open(method, params, isModern) ?? methods[method]?.(params, isModern);
    if (result === undefined) throw new Refusal(fault === 'wrong code for a method' ? -32603 : -32601, 'Method not found');
    return isModern && fault !== 'no resultType' ? { resultType: 'complete', ...result } : result;
  }

  /** @returns The answer to a message; undefined for a notification. */
  return function answer({ id, method, params = {} }) {
    if (id === undefined && fault !== 'answered notification') return undefined;
    const sentId = fault === 'ids as text' ? String(id) : id;
    try {
      const result = call(method, params);
      if (fault === 'opening without jsonrpc' && method === 'initialize') return { id, result };
      if (fault === 'both result and error') return { jsonrpc: '2.0', id: sentId, result, error: { code: -32603, message: 'no' } };
      return { jsonrpc: '2.0', id: sentId, result };
    } catch ({ code, message, data }) {
      return { jsonrpc: '2.0', id: sentId ?? null, error: { code: code ?? -32603, message, data } };
    }
  };
}
