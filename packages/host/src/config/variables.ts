/** Replaces `${...}` in the texts of a configuration: variables of the environment, inputs of the user, and names that the program gives. */

import type { Node } from 'jsonc-parser';
import type { JsonTree, Leaf } from './json-tree.ts';

/** An entry of `inputs`: something that the user is asked for, such as a key of an API. */
export interface ConfigInput {
  readonly id: string;
  readonly type: 'promptString' | 'pickString';
  readonly description: string | undefined;
  /** Whether the value is secret: do not show it while the user types it. */
  readonly isPassword: boolean;
  readonly default: string | undefined;
  /** The values to choose from, for `pickString`. */
  readonly options: readonly string[];
}

export interface VariableSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly names: Readonly<Record<string, string>>;
  readonly input: ((input: ConfigInput) => string | undefined | Promise<string | undefined>) | undefined;
}

const VARIABLE = /\$\{([^{}]*)\}/gu;

export class Variables {
  readonly #tree: JsonTree;
  readonly #sources: VariableSources;
  readonly #inputs: ReadonlyMap<string, ConfigInput>;
  readonly #answers = new Map<string, Promise<string | undefined>>();

  constructor(tree: JsonTree, sources: VariableSources) {
    this.#tree = tree;
    this.#sources = sources;
    this.#inputs = readInputs(tree);
  }

  /** Returns the text with its variables replaced; undefined if one has no value, which is then reported. */
  async expand({ value, node }: Leaf): Promise<string | undefined> {
    const parts: string[] = [];
    let at = 0;
    for (const { 0: all, 1: name = '', index } of value.matchAll(VARIABLE)) {
      const found = await this.#find(name, node);
      if (found === undefined) return undefined;
      parts.push(value.slice(at, index), found);
      at = index + all.length;
    }
    return parts.join('') + value.slice(at);
  }

  async expandAll(leaves: readonly Leaf[]): Promise<readonly string[] | undefined> {
    // One after the other, so that the user is asked for one input at a time.
    const texts: string[] = [];
    for (const leaf of leaves) {
      const text = await this.expand(leaf);
      if (text === undefined) return undefined;
      texts.push(text);
    }
    return texts;
  }

  async expandMap(leaves: ReadonlyMap<string, Leaf> = new Map()): Promise<Readonly<Record<string, string>> | undefined> {
    const texts = await this.expandAll([...leaves.values()]);
    return texts && Object.fromEntries([...leaves.keys()].map((key, index) => [key, texts[index] ?? '']));
  }

  async #find(name: string, node: Node): Promise<string | undefined> {
    const { env, names } = this.#sources;
    if (name.startsWith('input:')) return this.#ask(name.slice('input:'.length), node);
    if (Object.hasOwn(names, name)) return names[name];
    const [, variable = '', fallback] = /^(?:env:)?([^:]*)(?::-(.*))?$/su.exec(name) ?? [];
    const value = (Object.hasOwn(env, variable) ? env[variable] : undefined) ?? fallback;
    if (value === undefined)
      this.#tree.report(
        'error',
        node,
        `uses \${${name}}, which has no value: set the variable "${variable || name}" in the environment (a name of the host itself: in the option names)`,
      );
    return value;
  }

  async #ask(id: string, node: Node): Promise<string | undefined> {
    const input = this.#inputs.get(id);
    if (!input) {
      this.#tree.report('error', node, `uses \${input:${id}}, but "inputs" has no entry with this id`);
      return undefined;
    }
    if (!this.#answers.has(id)) this.#answers.set(id, (async () => this.#sources.input?.(input))());
    const value = (await this.#answers.get(id)) ?? input.default;
    if (value === undefined) this.#tree.report('error', node, `uses \${input:${id}}, for which there was no answer`);
    return value;
  }
}

function readInputs(tree: JsonTree): ReadonlyMap<string, ConfigInput> {
  const inputs = new Map<string, ConfigInput>();
  for (const node of tree.find(['inputs'])?.children ?? []) {
    const members = node.type === 'object' ? tree.members(node) : new Map<string, Node>();
    const id = tree.read(members.get('id'), 'string');
    if (id === undefined) {
      if (!members.has('id')) tree.report('error', node, 'needs an "id", a text');
      continue;
    }
    const type = tree.read(members.get('type'), 'string') ?? 'promptString';
    if (type !== 'promptString' && type !== 'pickString') {
      tree.report('error', node, 'has a "type" that this host does not know: use "promptString" or "pickString"');
      continue;
    }
    inputs.set(id, {
      id,
      type,
      description: tree.read(members.get('description'), 'string'),
      isPassword: tree.read(members.get('password'), 'boolean') ?? false,
      default: tree.read(members.get('default'), 'string'),
      options: (tree.read(members.get('options'), 'strings') ?? []).map(({ value }) => value),
    });
  }
  return inputs;
}
