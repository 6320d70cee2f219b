/** Finds the uses of official classes that differ here: members, options, arguments, and what handlers read of their context. */

import type { CallExpression, Class, NewExpression, Node, ObjectExpression, ObjectPattern, VariableDeclarator } from '@babel/types';
import type { Finding } from './mapping.ts';
import { dotted, lineOf, nameOf, type ParsedModule, walk } from './module-references.ts';

/** What moves together. `free` names always move: they are the same with every server and client. */
export type Group = 'server' | 'client' | 'http-server' | 'http-client' | 'stdio-client' | 'free';

/** The own place here of an official name. */
export interface NativeName {
  readonly to: string;
  /** The name there, if it differs. */
  readonly name?: string;
  readonly group: Group;
}

/** The official names whose own place here is sure. A name moves with its group, because objects travel between files. */
export interface NativeNames {
  find(specifier: string, name: string): NativeName | undefined;
  /** The groups of all names of a module. */
  groupsOf(specifier: string): readonly Group[];
}

/** A use that differs here, so that its group stays. */
export interface Obstacle extends Finding {
  readonly group: Group;
}

/** The groups that stay, each with the reason. */
export type Staying = ReadonlyMap<Group, string>;

/** The groups of which some file of the folder takes a class. Their uses then count also in files that import none. */
export type Taken = ReadonlySet<Group>;

/** Whether a file takes something of which no group moves, and which reads `authInfo` and headers from an HTTP transport. */
export function keepsLowLevelServer({ references, mentions }: ParsedModule): boolean {
  return (
    mentions.some(({ text }) => text.includes('/server')) ||
    references.some(({ specifier, declaration }) =>
      declaration?.isPlain === true
        ? declaration.names.some(({ imported }) => imported === 'Server' || imported === 'Protocol')
        : /\/(?:server(?:\/index)?|shared\/protocol)(?:\.js)?$/.test(specifier),
    )
  );
}

/** The members of an object, and the options and number of arguments of its constructor, that are the same here. */
interface Same {
  readonly group: Group;
  readonly members: readonly string[];
  /** Which argument of the constructor holds the options. */
  readonly optionsAt: number;
  readonly options: readonly string[];
}

const SAME: Readonly<Record<string, Same>> = {
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
const OLD_METHODS: Readonly<Record<string, string>> = { tool: 'registerTool', resource: 'registerResource', prompt: 'registerPrompt' };
const REGISTER = new Set(['registerTool', 'registerResource', 'registerPrompt']);
/** What is the same in `extra` and in the context that handlers get here, and what only the context has: that is already written for it. */
const CONTEXT_MEMBERS = new Set([
  ...['signal', 'sessionId', 'requestId', 'sendNotification', 'sendRequest'],
  ...['principal', 'auth', 'revision', 'era', 'client', 'meta', 'origin', 'app', 'state', 'run', 'log', 'progress', 'notify'],
  ...['closeStream', 'elicit', 'sample', 'listRoots', 'once', 'inputResponses', 'requestState', 'completeElicitation'],
]);
const MCP_ERROR =
  'McpError: in a tool throw ToolError(text) of @mortise/server, an isError result as in v1; elsewhere ProtocolError(code, message, data) of ' +
  '@mortise/jsonrpc-core; catch RemoteError of it, whose number is rpcCode, not code';
/** Members of `McpServer` under whatever name a function gets the server. */
const INNER_SERVER = new Set([
  'elicitInput',
  'createMessage',
  'listRoots',
  'setRequestHandler',
  'setNotificationHandler',
  'notification',
  'request',
  'oninitialized',
  'onclose',
  'onerror',
  'getClientCapabilities',
  'getClientVersion',
  'sendLoggingMessage',
  'registerCapabilities',
]);

/** Members of `Client` that differ, under whatever name a program holds it. */
const OTHER_CLIENT = new Set([
  'onclose',
  'onerror',
  'setRequestHandler',
  'setNotificationHandler',
  'removeRequestHandler',
  'removeNotificationHandler',
  'fallbackRequestHandler',
  'fallbackNotificationHandler',
  'registerCapabilities',
  'sendRootsListChanged',
  'experimental',
]);

/** Whether a file takes an official class of a group, or the module of one as a whole. */
export function takes({ references }: ParsedModule, names: NativeNames, group: Group): boolean {
  return references.some(({ specifier, declaration }) =>
    declaration?.isPlain === true
      ? declaration.names.some(({ imported }) => names.find(specifier, imported)?.group === group)
      : names.groupsOf(specifier).includes(group),
  );
}

/** Finds the uses in one file that differ here. */
export function findObstacles(module: ParsedModule, names: NativeNames, taken: Taken): readonly Obstacle[] {
  const found: Obstacle[] = [];
  const own = ownModules(module);
  const checksServer = takes(module, names, 'server') || (taken.has('server') && !own.has('@mortise/server'));
  const isClient = clientRule(takes(module, names, 'client'), taken.has('client') && !own.has('@mortise/client'));
  const add = (group: Group, node: Node, what: string): void => void found.push({ group, line: lineOf(node), what });
  const classes = new Map<string, Same>();
  for (const { specifier, declaration, line } of module.references) {
    if (declaration?.isPlain !== true) {
      for (const group of names.groupsOf(specifier)) if (group !== 'free') found.push({ group, line, what: asWhole(specifier) });
    }
    for (const { imported, local } of declaration?.names ?? []) {
      const same = names.find(specifier, imported) === undefined ? undefined : SAME[imported];
      if (same !== undefined) classes.set(local, same);
      if (same !== undefined && declaration?.keyword === 'export') found.push({ group: same.group, line, what: exportedAgain(imported) });
      if (imported === 'McpError') found.push({ group: 'server', line, what: MCP_ERROR });
    }
  }
  const objects = findObjects(module, classes);
  walk(module.file.program, (node, parents) => {
    if (node.type === 'NewExpression') checkConstructor(node, classes, add);
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') checkSuperclass(node, classes, add);
    if (node.type === 'VariableDeclarator') checkDestructured(node, objects, add);
    if (node.type === 'CallExpression') checkClientCall(node, objects, isClient, add);
    if (node.type === 'ExportSpecifier') checkExport(node.local, classes, add);
    if (node.type === 'ExportDefaultDeclaration') checkExport(node.declaration, classes, add);
    if (node.type === 'CallExpression' && checksServer) checkRegistration(node, add);
    if (node.type === 'NewExpression' && checksServer) checkTemplate(node, add);
    if (node.type === 'ImportDeclaration' && node.source.value === 'zod/v3' && checksServer && !own.has('@mortise/server/zod'))
      add('server', node, 'schemas of zod 3 need fromZodV3 of @mortise/server/zod');
    if (node.type === 'MemberExpression' || node.type === 'OptionalMemberExpression')
      checkMember(node, parents, objects, { checksServer, isClient }, add);
  });
  return found;
}

/** Whether an object may be a client, by its name, where nothing in the file says what it is. */
type IsClient = (name: string | undefined) => boolean;

/** A file that takes `Client` may hold it under any name, in a map, or get it from a function. */
function clientRule(isTaken: boolean, isNear: boolean): IsClient {
  if (isTaken) return (name = '') => !/(?:transport|server)$/i.test(name);
  return (name = '') => isNear && /client$/i.test(name);
}

export function asWhole(specifier: string): string {
  return `"${specifier}" is imported as a whole, or mocked: its names move only where all files import them by name`;
}

/** The modules of Mortise that a file imports. */
function ownModules({ file }: ParsedModule): ReadonlySet<string> {
  return new Set(file.program.body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : [])));
}

type Add = (group: Group, node: Node, what: string) => void;

/** What each variable, parameter and member of the file holds: undefined for an object of another class. One name may hold several. */
type Objects = ReadonlyMap<string, readonly (Same | undefined)[]>;

/** A name counts for the whole file. */
function findObjects(module: ParsedModule, classes: ReadonlyMap<string, Same>): Objects {
  const objects = new Map<string, (Same | undefined)[]>();
  const remember = (name: string | undefined, className: string | undefined): void => {
    if (name !== undefined && className !== undefined) objects.set(name, [...(objects.get(name) ?? []), classes.get(className)]);
  };
  walk(module.file.program, (node, parents) => {
    if (node.type === 'VariableDeclarator' && node.init) remember(dotted(node.id), classOf(node.init));
    if (node.type === 'AssignmentExpression') remember(dotted(node.left), classOf(node.right));
    if (node.type === 'Identifier' && node.typeAnnotation?.type === 'TSTypeAnnotation') {
      remember(node.name, typeName(node.typeAnnotation));
      if (parents.at(-1)?.type === 'TSParameterProperty') remember(`this.${node.name}`, typeName(node.typeAnnotation));
    }
    if (node.type === 'ClassProperty' || node.type === 'ClassPrivateProperty')
      remember(
        `this.${nameOf(node.key)}`,
        (node.value ? classOf(node.value) : undefined) ?? (node.typeAnnotation ? typeName(node.typeAnnotation) : undefined),
      );
  });
  return objects;
}

function classOf(node: Node): string | undefined {
  if (node.type === 'AwaitExpression') return classOf(node.argument);
  return node.type === 'NewExpression' && node.callee.type === 'Identifier' ? node.callee.name : undefined;
}

/** The first class name in a type, so that `Client | undefined` and `Promise<Client>` count. */
function typeName(annotation: Node): string | undefined {
  let name: string | undefined;
  walk(annotation, (node) => {
    if (name === undefined && node.type === 'TSTypeReference' && node.typeName.type === 'Identifier' && node.typeName.name !== 'Promise')
      name = node.typeName.name;
  });
  return name;
}

function checkConstructor(node: NewExpression, classes: ReadonlyMap<string, Same>, add: Add): void {
  const name = node.callee.type === 'Identifier' ? node.callee.name : '';
  const same = classes.get(name);
  const given = same === undefined ? undefined : node.arguments[same.optionsAt];
  if (same === undefined || given === undefined) return;
  if (given.type !== 'ObjectExpression')
    return add(same.group, given, `the options of ${name} are not written in place: compare them with the guide`);
  for (const key of keysOf(given))
    if (key === undefined || !same.options.includes(key))
      add(same.group, given, `the option "${key ?? '...'}" of ${name} differs here: see the guide`);
}

function checkSuperclass({ superClass }: Class, classes: ReadonlyMap<string, Same>, add: Add): void {
  const same = superClass?.type === 'Identifier' ? classes.get(superClass.name) : undefined;
  if (superClass && same) add(same.group, superClass, `a class extends ${dotted(superClass)}: compare what it uses of it with the guide`);
}

function checkRegistration(node: CallExpression, add: Add): void {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
  const method = callee.property.name;
  const last = node.arguments.at(-1);
  const replacement = OLD_METHODS[method];
  if (
    replacement !== undefined &&
    Object.hasOwn(OLD_METHODS, method) &&
    node.arguments[0]?.type === 'StringLiteral' &&
    node.arguments.length > 1
  )
    add('server', node, `.${method}() is not here: write ${replacement}()`);
  if (REGISTER.has(method) && last !== undefined)
    checkHandler(`the handler of ${method}()`, last, contextAt(method, node.arguments[1]), add);
}

/** Which parameter of a handler is the context: the first, or the one behind the arguments or the URI, or behind the variables of a template. */
function contextAt(method: string, second: Node | undefined): number {
  // A resource whose second argument is no text may be a template.
  if (method === 'registerResource') return /^(?:String|Template)Literal$/.test(second?.type ?? '') ? 1 : 2;
  const keys = second?.type === 'ObjectExpression' ? keysOf(second) : [undefined];
  return keys.some((key) => key === undefined || key === 'inputSchema' || key === 'argsSchema') ? 1 : 0;
}

function checkTemplate({ callee, arguments: [, callbacks] }: NewExpression, add: Add): void {
  if (dotted(callee) !== 'ResourceTemplate' || callbacks?.type !== 'ObjectExpression') return;
  const list = callbacks.properties.find((property) => property.type !== 'SpreadElement' && keyOf(property) === 'list');
  const handler = list?.type === 'ObjectProperty' ? list.value : list;
  if (handler && dotted(handler) !== 'undefined') checkHandler('"list" of ResourceTemplate', handler, 0, add);
}

function checkDestructured({ id, init }: VariableDeclarator, objects: Objects, add: Add): void {
  const held = id.type === 'ObjectPattern' && init ? objects.get(dotted(init) ?? '') : undefined;
  for (const same of held ?? []) if (same) add(same.group, id, `members of "${dotted(init as Node)}" are taken out of it: call them on it`);
}

function checkExport(node: Node, classes: ReadonlyMap<string, Same>, add: Add): void {
  const same = node.type === 'Identifier' ? classes.get(node.name) : undefined;
  if (same) add(same.group, node, exportedAgain(dotted(node)));
}

function exportedAgain(name: string | undefined): string {
  return `"${name}" is exported again, and what other files use of it is not checked: import it there from the official package`;
}

function checkClientCall(node: CallExpression, objects: Objects, isClient: IsClient, add: Add): void {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
  const method = callee.property.name;
  const name = dotted(callee.object);
  const held = objects.get(name ?? '');
  const may = held
    ? held.some((same) => same?.group === 'client' && same.members.includes(method))
    : method === 'callTool' && isClient(name);
  if (!may || node.arguments[0]?.type === 'StringLiteral' || node.arguments.length <= (method === 'ping' ? 0 : 1)) return;
  const what = method === 'callTool' ? 'callTool takes no result schema here, and the' : `the`;
  add('client', node, `${what} options of ${method}() have other names here: timeoutMs, onProgress`);
}

/**
 * Checks that a handler only reads members of its context that are the same here.
 *
 * @param at Which parameter is the context. A handler without it may get the context as an earlier one.
 */
function checkHandler(what: string, handler: Node, at: number, add: Add): void {
  if (handler.type !== 'ArrowFunctionExpression' && handler.type !== 'FunctionExpression' && handler.type !== 'ObjectMethod')
    return add('server', handler, `${what} is not written in place: check what it reads of "extra"`);
  const isSure = handler.params.length > at;
  for (const [index, param] of handler.params.entries()) {
    const target = param.type === 'AssignmentPattern' ? param.left : param;
    if (isSure && index < at) continue;
    if (target.type === 'Identifier') checkContext(target.name, handler.body, isSure, add);
    else if (target.type === 'ObjectPattern') for (const key of keysOf(target)) checkContextMember('extra', key, isSure, target, add);
    else add('server', target, `${what} takes "extra" in another way than by name: check what it reads of it`);
  }
}

function checkContext(name: string, body: Node, isSure: boolean, add: Add): void {
  walk(body, (node, parents) => {
    if (node.type !== 'Identifier' || node.name !== name) return;
    const parent = parents.at(-1);
    const isMember = parent?.type === 'MemberExpression' || parent?.type === 'OptionalMemberExpression';
    if (isMember && parent.property === node && !parent.computed) return;
    if (parent?.type === 'ObjectProperty' && parent.key === node && !parent.shorthand) return;
    const member = isMember && parent.property.type === 'Identifier' && !parent.computed ? parent.property.name : undefined;
    checkContextMember(name, member, isSure || ['extra', 'ctx', 'context'].includes(name), node, add);
  });
}

/** @param isSure Whether this is the context. Arguments or a URI may stand in its place; then only two members show that it is the context. */
function checkContextMember(name: string, member: string | undefined, isSure: boolean, node: Node, add: Add): void {
  if (isSure ? member !== undefined && CONTEXT_MEMBERS.has(member) : member !== '_meta' && member !== 'requestInfo') return;
  const what = member === undefined ? `"${name}" as a whole, or a member under a computed name,` : `"${name}.${member}"`;
  add('server', node, `${what} may differ here: see "extra is ctx" in the guide`);
}

function checkMember(
  node: Extract<Node, { type: 'MemberExpression' | 'OptionalMemberExpression' }>,
  parents: readonly Node[],
  objects: Objects,
  { checksServer, isClient }: { readonly checksServer: boolean; readonly isClient: IsClient },
  add: Add,
): void {
  const object = dotted(node.object);
  const member = node.property.type === 'Identifier' && !node.computed ? node.property.name : undefined;
  const parent = parents.at(-1);
  const inner =
    member === 'server' && parent?.type === 'MemberExpression' && parent.property.type === 'Identifier' ? parent.property.name : '';
  if (checksServer && INNER_SERVER.has(inner)) return add('server', node, `".server.${inner}" has another name here: see the guide`);
  const held = objects.get(object ?? '');
  if (!held && member !== undefined && OTHER_CLIENT.has(member) && isClient(object))
    return add('client', node, `".${member}" of a Client differs here: see the guide. If this is no Client, give it its type`);
  const isSame = (same: Same | undefined): boolean =>
    same === undefined || (member !== undefined && (same.members.includes(member) || Object.hasOwn(OLD_METHODS, member)));
  if (held?.some(isSame) === true) return;
  for (const same of held ?? []) if (same) add(same.group, node, `"${object}.${member ?? '[...]'}" is not here, or differs: see the guide`);
}

/** The names in an object or a pattern; undefined for a computed one, and for the rest. */
function keysOf(object: ObjectExpression | ObjectPattern): readonly (string | undefined)[] {
  return object.properties.map((property) => ('key' in property ? keyOf(property) : undefined));
}

function keyOf({ key, computed }: { readonly key: Node; readonly computed?: boolean | undefined }): string | undefined {
  if (key.type === 'StringLiteral') return key.value;
  return key.type === 'Identifier' && computed !== true ? key.name : undefined;
}
