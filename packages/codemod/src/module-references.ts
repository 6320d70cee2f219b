/** Reads one source file: every place where it names a module, which names it takes from there, and the program's syntax tree. */

import { parse, type ParserOptions } from '@babel/parser';
import type { File, Node, StringLiteral } from '@babel/types';

/** A name in the braces of an import or export declaration. */
export interface TakenName {
  readonly start: number;
  readonly end: number;
  readonly imported: string;
  readonly local: string;
  /** Whether the name itself is marked `type`. */
  readonly isType: boolean;
}

/** A place that names a module: the declaration of an import or export, or a string given to `import()`, `require`, `vi.mock` or a type. */
export interface ModuleReference {
  readonly specifier: string;
  /** The string with its quotes, as offsets in the source. */
  readonly start: number;
  readonly end: number;
  readonly line: number;
  /** The declaration with the names that it takes; undefined if the place is none, or takes the module as a whole. */
  readonly declaration?: NamedDeclaration | undefined;
}

export interface NamedDeclaration {
  readonly start: number;
  readonly end: number;
  /** How it begins: `import`, `import type`, `export` or `export type`. */
  readonly keyword: string;
  readonly names: readonly TakenName[];
  /** Whether the names can be moved one by one: false for a default import and for import attributes. */
  readonly isPlain: boolean;
}

/** A string that names a module and is none of the places above. */
export interface Mention {
  readonly text: string;
  readonly line: number;
}

export interface ParsedModule {
  readonly file: File;
  readonly references: readonly ModuleReference[];
  readonly mentions: readonly Mention[];
}

/** Functions and methods whose first argument is a module. */
const CALLS = new Set(['require', 'require.resolve', 'import.meta.resolve']);
const MOCKERS = new Set(['vi', 'vitest', 'jest', 'mock', 'td']);
const MOCKS = new Set([
  'mock',
  'doMock',
  'unmock',
  'doUnmock',
  'dontMock',
  'importActual',
  'importMock',
  'requireActual',
  'requireMock',
  'setMock',
  'deepUnmock',
  'unstable_mockModule',
  'module',
  'replaceEsm',
  'replace',
]);

/**
 * Parses a file.
 *
 * @param owns Whether a text names a module that is looked for.
 * @throws {SyntaxError} The file is not JavaScript or TypeScript.
 */
export function parseModule(path: string, source: string, owns: (text: string) => boolean): ParsedModule {
  const file = parse(source, toOptions(path, source));
  const references: ModuleReference[] = [];
  const used = new Set<Node>();
  const mentions: Mention[] = [];
  walk(file.program, (node) => {
    const literal = findSpecifier(node);
    if (literal !== undefined && owns(literal.value)) {
      used.add(literal);
      references.push({ specifier: literal.value, ...spanOf(literal), line: lineOf(literal), declaration: toDeclaration(node) });
    }
    const text = textOf(node);
    if (text !== undefined && owns(text) && !used.has(node)) mentions.push({ text, line: lineOf(node) });
  });
  for (const comment of file.comments ?? [])
    if (/\bimport\s*\(|@import\b|<reference\b/.test(comment.value) && owns(comment.value))
      mentions.push({ text: 'a comment', line: comment.loc?.start.line ?? 1 });
  return { file, references, mentions };
}

/** Calls `visit` for each node, parents first. */
export function walk(root: Node, visit: (node: Node, parents: readonly Node[]) => void): void {
  const parents: Node[] = [];
  const enter = (node: Node): void => {
    visit(node, parents);
    parents.push(node);
    for (const [key, value] of Object.entries(node)) {
      if (key === 'loc' || key === 'extra' || key.endsWith('omments')) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) enter(child);
    }
    parents.pop();
  };
  enter(root);
}

export function lineOf(node: Node): number {
  return node.loc?.start.line ?? 1;
}

export function spanOf(node: Node): { readonly start: number; readonly end: number } {
  return { start: node.start ?? 0, end: node.end ?? 0 };
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

/** Syntax that the parser reads only if told to. */
const SYNTAX = [
  'decorators-legacy',
  'decoratorAutoAccessors',
  'importAttributes',
  'deferredImportEvaluation',
  'sourcePhaseImports',
  'explicitResourceManagement',
] as const;

function toOptions(path: string, source: string): ParserOptions {
  const isTyped = /\.[cm]?tsx?$/.test(path);
  const hasJsx = /\.(?:[jt]sx|[cm]?js)$/.test(path);
  const types: ParserOptions['plugins'] = isTyped ? ['typescript'] : /@flow\b/.test(source) ? ['flow'] : [];
  return {
    sourceType: 'unambiguous',
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowUndeclaredExports: true,
    errorRecovery: true,
    plugins: [...types, ...(hasJsx ? (['jsx'] as const) : []), ...SYNTAX],
  };
}

/** The string with which a node names a module. */
function findSpecifier(node: Node): StringLiteral | undefined {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportAllDeclaration':
      return node.source;
    case 'ExportNamedDeclaration':
      return node.source ?? undefined;
    case 'TSExternalModuleReference':
      return toString(node.expression);
    case 'TSModuleDeclaration':
      return toString(node.id);
    case 'TSImportType':
      return toString(node.argument);
    case 'CallExpression':
      return isModuleCall(node.callee) ? toString(node.arguments[0]) : undefined;
    default:
      return undefined;
  }
}

function toString(node: Node | null | undefined): StringLiteral | undefined {
  return node?.type === 'StringLiteral' ? node : undefined;
}

function isModuleCall(callee: Node): boolean {
  if (callee.type === 'Import') return true;
  const name = dotted(callee);
  if (name === undefined) return false;
  if (CALLS.has(name)) return true;
  const [object = '', method = '', ...more] = name.split('.');
  return more.length === 0 && MOCKERS.has(object) && MOCKS.has(method);
}

/** `a.b.c` as text; undefined for anything else. */
export function dotted(node: Node): string | undefined {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ThisExpression') return 'this';
  if (node.type === 'MetaProperty') return `${node.meta.name}.${node.property.name}`;
  if (node.type === 'TSNonNullExpression') return dotted(node.expression);
  if (node.type !== 'MemberExpression' && node.type !== 'OptionalMemberExpression') return undefined;
  const name = node.computed ? undefined : nameOfKey(node.property);
  const object = dotted(node.object);
  return object === undefined || name === undefined ? undefined : `${object}.${name}`;
}

/** A member's name, which is `#a` for a private one. */
export function nameOfKey(key: Node): string | undefined {
  if (key.type === 'PrivateName') return `#${key.id.name}`;
  return key.type === 'Identifier' ? key.name : undefined;
}

function toDeclaration(node: Node): NamedDeclaration | undefined {
  if (node.type !== 'ImportDeclaration' && node.type !== 'ExportNamedDeclaration') return undefined;
  const isImport = node.type === 'ImportDeclaration';
  const isType = (isImport ? node.importKind : node.exportKind) === 'type';
  const names: TakenName[] = [];
  for (const taken of node.specifiers) {
    if (taken.type === 'ImportSpecifier')
      names.push({ ...spanOf(taken), imported: nameOf(taken.imported), local: taken.local.name, isType: taken.importKind === 'type' });
    else if (taken.type === 'ExportSpecifier')
      names.push({ ...spanOf(taken), imported: taken.local.name, local: nameOf(taken.exported), isType: taken.exportKind === 'type' });
  }
  const isPlain = names.length > 0 && names.length === node.specifiers.length && (node.attributes?.length ?? 0) === 0;
  return { ...spanOf(node), keyword: `${isImport ? 'import' : 'export'}${isType ? ' type' : ''}`, names, isPlain };
}

function nameOf(node: { readonly type: string; readonly name?: string; readonly value?: string }): string {
  return node.name ?? node.value ?? '';
}

function textOf(node: Node): string | undefined {
  if (node.type === 'StringLiteral') return node.value;
  if (node.type === 'TemplateElement') return node.value.cooked ?? node.value.raw;
  return node.type === 'JSXText' ? node.value : undefined;
}
