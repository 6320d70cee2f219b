/** Reads members of a JSON document with comments, and says at which line and key a mistake is. */

import { findNodeAtLocation, getNodePath, type JSONPath, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';

/** A mistake in a configuration file. */
export interface ConfigProblem {
  /** `error`: the server with the mistake is left out. `warning`: the part with the mistake has no effect. */
  readonly severity: 'error' | 'warning';
  /** The name of the file. */
  readonly file: string;
  /** The line, from 1. The same holds for `column`. */
  readonly line: number;
  readonly column: number;
  /** Where in the document it is, such as `mcpServers.files.args[0]`; empty for the whole document. */
  readonly key: string;
  /** What is wrong and what to do. Contains no values of the file, which may be secret. */
  readonly message: string;
}

/** The kinds that a member can have. */
interface Kinds {
  readonly string: string;
  readonly boolean: boolean;
  readonly strings: readonly Leaf[];
  readonly map: ReadonlyMap<string, Leaf>;
}

/** A text of the document and its place. */
export interface Leaf {
  readonly value: string;
  readonly node: Node;
}

const NAMES: Readonly<Record<keyof Kinds, string>> = {
  string: 'a text',
  boolean: 'true or false',
  strings: 'a list of texts',
  map: 'an object of texts',
};

/** A document, and the mistakes found in it so far. */
export class JsonTree {
  readonly root: Node | undefined;
  readonly problems: ConfigProblem[] = [];
  readonly #text: string;
  readonly #file: string;

  constructor(text: string, file: string) {
    this.#text = text.replace(/^\uFEFF/u, '');
    this.#file = file;
    const errors: ParseError[] = [];
    this.root = parseTree(this.#text, errors, { allowTrailingComma: true, allowEmptyContent: true });
    for (const { error, offset } of errors) this.#add('error', offset, '', `is not valid JSON here: ${printParseErrorCode(error)}`);
    if (!this.root && errors.length === 0) this.#add('error', 0, '', 'is empty: write { "mcpServers": {} }');
  }

  /** Returns the members of an object: key, and node of the value. A key that is there twice counts once, as the last one says. */
  members(object: Node): ReadonlyMap<string, Node> {
    const members = new Map<string, Node>();
    for (const { children: [key, value] = [] } of object.children ?? []) {
      if (!key || !value) continue;
      if (members.has(String(key.value))) this.report('warning', value, 'is there twice: the last one counts');
      members.set(String(key.value), value);
    }
    return members;
  }

  /** Returns the value of a node if it has the right kind; otherwise reports it and returns undefined. */
  read<K extends keyof Kinds>(node: Node | undefined, kind: K): Kinds[K] | undefined {
    if (!node) return undefined;
    const value = this.#readers[kind](node) as Kinds[K] | undefined;
    if (value === undefined) this.report('error', node, `must be ${NAMES[kind]}`);
    return value;
  }

  /** Returns the node of a path from the root; undefined if there is none. */
  find(path: JSONPath): Node | undefined {
    return this.root && findNodeAtLocation(this.root, path);
  }

  report(severity: ConfigProblem['severity'], node: Node, message: string): void {
    this.#add(severity, node.offset, toKey(getNodePath(node)), message);
  }

  readonly #readers: { readonly [K in keyof Kinds]: (node: Node) => Kinds[K] | undefined } = {
    string: (node) => (node.type === 'string' ? String(node.value) : undefined),
    boolean: (node) => (node.type === 'boolean' ? Boolean(node.value) : undefined),
    strings: (node) => {
      const leaves = (node.type === 'array' ? (node.children ?? []) : [node]).map(toLeaf);
      return node.type === 'array' && leaves.every((leaf) => leaf !== undefined) ? leaves : undefined;
    },
    map: (node) => {
      if (node.type !== 'object') return undefined;
      const leaves = [...this.members(node)].map(([key, value]) => [key, toLeaf(value)] as const);
      return leaves.every((pair): pair is readonly [string, Leaf] => pair[1] !== undefined) ? new Map(leaves) : undefined;
    },
  };

  #add(severity: ConfigProblem['severity'], offset: number, key: string, message: string): void {
    const before = this.#text.slice(0, offset).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    this.problems.push({ severity, file: this.#file, line: before.length, column, key, message });
  }
}

/** Numbers and truth values count as texts, as in the environment of a program. */
function toLeaf(node: Node): Leaf | undefined {
  return ['string', 'number', 'boolean'].includes(node.type) ? { value: String(node.value), node } : undefined;
}

function toKey(path: JSONPath): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./u, '');
}
