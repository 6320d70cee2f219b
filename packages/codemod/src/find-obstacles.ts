/** Finds the uses of official classes that differ here: members, options, arguments, and what handlers read of their context. */

import type {
  CallExpression,
  Class,
  ExportDefaultDeclaration,
  ExportSpecifier,
  NewExpression,
  Node,
  ObjectExpression,
  ObjectPattern,
  OptionalCallExpression,
  VariableDeclarator,
} from '@babel/types';
import type { Finding } from './mapping.ts';
import { dotted, lineOf, nameOfKey, type ParsedModule, walk } from './module-references.ts';
import { CLIENT, CONTEXT_MEMBERS, type Group, INNER_SERVER, OLD_METHODS, REGISTER, SAME, type Same } from './same-members.ts';

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

/** The groups of which some file of the folder takes a class. */
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

const MCP_ERROR =
  'McpError: in a tool throw ToolError(text) of @mortise/server, an isError result as in v1; elsewhere ProtocolError(code, message, data) of ' +
  '@mortise/jsonrpc-core; catch RemoteError of it, whose number is rpcCode, not code';
const OTHER_NAME = 'another name ends this, if it is something else';
const OTHER_FILE = 'if it is something else, a file without a client is its place';
/** Objects that are no client, by the end of their own name or of their class. */
const NO_CLIENT = /^transport|(?:server|transport|socket)$/i;

/** Whether a file takes an official server or client, or the module of one as a whole. */
export function takes(wanted: Group, { references }: ParsedModule, names: NativeNames): boolean {
  return references.some(({ specifier, declaration }) =>
    declaration?.isPlain === true
      ? declaration.names.some(({ imported }) => names.find(specifier, imported)?.group === wanted)
      : names.groupsOf(specifier).includes(wanted),
  );
}

/**
 * Finds the uses in one file that differ here.
 *
 * @param taken The groups that some file of the folder takes. Handlers of a server, and what is called a client, then count in all files.
 */
export function findObstacles(module: ParsedModule, names: NativeNames, taken: Taken): readonly Obstacle[] {
  const found: Obstacle[] = [];
  const own = ownModules(module);
  const checksServer = takes('server', module, names) || (taken.has('server') && !own.has('@mortise/server'));
  const add = (group: Group, node: Node, what: string): void => void found.push({ group, line: lineOf(node), what });
  const classes = new Map<string, Same>();
  for (const { specifier, declaration, line } of module.references) {
    if (declaration?.isPlain !== true) {
      for (const group of names.groupsOf(specifier)) if (group !== 'free') found.push({ group, line, what: asWhole(specifier) });
    }
    for (const { imported, local } of declaration?.names ?? []) {
      const same = names.find(specifier, imported) === undefined ? undefined : SAME[imported];
      if (same !== undefined && declaration?.keyword.startsWith('export')) found.push({ group: same.group, line, what: again(imported) });
      else if (same !== undefined) classes.set(local, same);
      if (imported === 'McpError') found.push({ group: 'server', line, what: MCP_ERROR });
    }
  }
  const objects = findObjects(module, classes);
  const checksClient = takes('client', module, names);
  const mayGetClient = taken.has('client') && !own.has('@mortise/client');
  walk(module.file.program, (node, parents) => {
    if (node.type === 'NewExpression') checkConstructor(node, classes, add);
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') checkSuperclass(node, classes, add);
    if (node.type === 'VariableDeclarator') checkDestructured(node, objects, add);
    if (node.type === 'CallExpression' || node.type === 'OptionalCallExpression')
      checkClientCall(node, objects, checksClient || mayGetClient, add);
    if (node.type === 'ExportSpecifier' || node.type === 'ExportDefaultDeclaration') checkExport(node, classes, add);
    if (node.type === 'CallExpression' && checksServer) checkRegistration(node, add);
    if (node.type === 'NewExpression' && checksServer) checkTemplate(node, add);
    if (node.type === 'ImportDeclaration' && node.source.value === 'zod/v3' && checksServer && !own.has('@mortise/server/zod'))
      add('server', node, 'schemas of zod 3 need fromZodV3 of @mortise/server/zod');
    if (node.type !== 'MemberExpression' && node.type !== 'OptionalMemberExpression') return;
    checkMember(node, parents, objects, checksServer, add);
    if (checksClient || (mayGetClient && isCalledClient(node.object))) checkClientMember(node, parents, objects, add);
  });
  return found;
}

export function asWhole(specifier: string): string {
  return `"${specifier}" is imported as a whole, or mocked: its names move only where all files import them by name`;
}

function again(name: string): string {
  return `${name} is exported again: it moves only where each file imports it from the package`;
}

/** The modules of Mortise that a file imports. */
function ownModules({ file }: ParsedModule): ReadonlySet<string> {
  return new Set(file.program.body.flatMap((node) => (node.type === 'ImportDeclaration' ? [node.source.value] : [])));
}

type Add = (group: Group, node: Node, what: string) => void;

/** What a name may hold, in the whole file: objects of one of the classes, or none of them. */
type Objects = ReadonlyMap<string, readonly Same[]>;

/** The variables, parameters and fields that hold an object of a class. */
function findObjects(module: ParsedModule, classes: ReadonlyMap<string, Same>): Objects {
  const objects = new Map<string, readonly Same[]>();
  const remember = (name: string | undefined, className: string | undefined, isMade: boolean): void => {
    const same = classes.get(className ?? '');
    if (name === undefined || className === undefined || (same === undefined && !isMade && !NO_CLIENT.test(className))) return;
    const known = objects.get(name) ?? [];
    objects.set(name, same === undefined || known.includes(same) ? known : [...known, same]);
  };
  walk(module.file.program, (node, parents) => {
    if (node.type === 'VariableDeclarator' && node.init) remember(dotted(node.id), classOf(node.init), true);
    if (node.type === 'AssignmentExpression') remember(dotted(node.left), classOf(node.right), true);
    if (node.type === 'Identifier' && node.typeAnnotation?.type === 'TSTypeAnnotation') {
      remember(node.name, typeName(node.typeAnnotation), false);
      if (parents.at(-1)?.type === 'TSParameterProperty') remember(`this.${node.name}`, typeName(node.typeAnnotation), false);
    }
    if (node.type !== 'ClassProperty' && node.type !== 'ClassPrivateProperty') return;
    const name = `this.${nameOfKey(node.key) ?? ''}`;
    if (node.value) remember(name, classOf(node.value), true);
    if (node.typeAnnotation) remember(name, typeName(node.typeAnnotation), false);
  });
  return objects;
}

function classOf(node: Node): string | undefined {
  if (node.type === 'AwaitExpression') return classOf(node.argument);
  return node.type === 'NewExpression' && node.callee.type === 'Identifier' ? node.callee.name : undefined;
}

/** The first class name in a type, so that `Client | undefined` and `Promise<Client>` count, and `Client[]` and `{ client: Client }` do not. */
function typeName(annotation: Node): string | undefined {
  let name: string | undefined;
  if ('typeAnnotation' in annotation && !/^TS(?:TypeReference|UnionType)$/.test(annotation.typeAnnotation?.type ?? '')) return undefined;
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

function checkExport(node: ExportSpecifier | ExportDefaultDeclaration, classes: ReadonlyMap<string, Same>, add: Add): void {
  const name = dotted(node.type === 'ExportSpecifier' ? node.local : node.declaration) ?? '';
  const same = classes.get(name);
  if (same) add(same.group, node, again(name));
}

function checkDestructured({ id, init }: VariableDeclarator, objects: Objects, add: Add): void {
  if (id.type !== 'ObjectPattern' || !init) return;
  for (const { group } of objects.get(dotted(init) ?? '') ?? [])
    add(group, id, `members of "${dotted(init)}" are taken out of it: call them on it`);
}

/** A schema or options of `callTool` count on any object, and those of other methods on a client; v1's first argument is never a text. */
function checkClientCall(node: CallExpression | OptionalCallExpression, objects: Objects, mayHaveClient: boolean, add: Add): void {
  const { callee } = node;
  if (!('property' in callee) || callee.property.type !== 'Identifier' || !('object' in callee)) return;
  const method = callee.property.name;
  const [first, second, third] = node.arguments;
  if (!SAME['Client']?.members.includes(method) || !(method === 'ping' ? first : second)) return;
  const held = objects.get(dotted(callee.object) ?? '');
  const isClient = held ? held.some(({ group }) => group === 'client') : mayHaveClient && isCalledClient(callee.object);
  const isOldCall = method === 'callTool' && (third !== undefined || /schema$/i.test((second && dotted(second)) ?? ''));
  if (!isClient && !(isOldCall && mayHaveClient && first?.type !== 'StringLiteral')) return;
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

type MemberLike = Extract<Node, { type: 'MemberExpression' | 'OptionalMemberExpression' }>;

function checkMember(node: MemberLike, parents: readonly Node[], objects: Objects, checksServer: boolean, add: Add): void {
  const object = dotted(node.object);
  const member = node.property.type === 'Identifier' && !node.computed ? node.property.name : undefined;
  const parent = parents.at(-1);
  const inner =
    member === 'server' && parent?.type === 'MemberExpression' && parent.property.type === 'Identifier' ? parent.property.name : '';
  if (checksServer && INNER_SERVER.has(inner)) return add('server', node, `".server.${inner}" has another name here: see the guide`);
  const known = objects.get(object ?? '') ?? [];
  if (member !== undefined && (known.some(({ members }) => members.includes(member)) || Object.hasOwn(OLD_METHODS, member))) return;
  const what = `"${object}.${member ?? '[...]'}" is not here, or differs: see the guide (${OTHER_NAME})`;
  for (const { group } of known) add(group, node, what);
}

/** A member that differs, of a client that no name shows: one in a field of another object, or the result of a call. */
function checkClientMember(node: MemberLike, parents: readonly Node[], objects: Objects, add: Add): void {
  const { object } = node;
  const member = node.computed ? undefined : nameOfKey(node.property);
  const holder = nameOfHolder(object);
  if (member === undefined || object.type === 'Super' || object.type === 'ThisExpression' || objects.has(dotted(object) ?? '')) return;
  if (member === 'transport' ? !/client$/i.test(holder ?? '') : !CLIENT.has(member) || NO_CLIENT.test(holder ?? '')) return;
  // `ctx.request` and `http.request(...)` are something else.
  if ((member === 'request' || member === 'notification') && !sendsMessage(parents.at(-1))) return;
  add('client', node, `"${holder ?? '...'}.${member}" is not here, or differs, if it is a Client's: see the guide (${OTHER_FILE})`);
}

function nameOfHolder(object: Node): string | undefined {
  return 'property' in object ? nameOfKey(object.property as Node) : dotted(object);
}

/** Whether an object that another file may have made is a client by its name. */
function isCalledClient(object: Node): boolean {
  return /client$/i.test(nameOfHolder(object) ?? '');
}

/** Whether a call gives an object with a method, or also a schema. */
function sendsMessage(call: Node | undefined): boolean {
  if (call?.type !== 'CallExpression' && call?.type !== 'OptionalCallExpression') return false;
  const [message, schema] = call.arguments;
  const keys = message?.type === 'ObjectExpression' ? keysOf(message) : undefined;
  // `axios.request({ method, url })` is something else.
  if (keys) return keys.includes('method') && !keys.includes('url') && !keys.includes('path');
  return /schema$/i.test((schema && dotted(schema)) ?? '');
}

/** The names in an object or a pattern; undefined for a computed one, and for the rest. */
function keysOf(object: ObjectExpression | ObjectPattern): readonly (string | undefined)[] {
  return object.properties.map((property) => ('key' in property ? keyOf(property) : undefined));
}

function keyOf({ key, computed }: { readonly key: Node; readonly computed?: boolean | undefined }): string | undefined {
  if (key.type === 'StringLiteral') return key.value;
  return key.type === 'Identifier' && computed !== true ? key.name : undefined;
}
