/** Rewrites the imports of one source file. Everything outside the changed spans stays as it is. */

import MagicString from 'magic-string';
import type { Finding, Mapping, Move } from './mapping.ts';
import type { ModuleReference, NamedDeclaration, ParsedModule, TakenName } from './module-references.ts';

/** A rewritten file. */
export interface RewrittenModule {
  readonly text: string;
  /** Whether the file may still import an official module. */
  readonly keepsOfficial: boolean;
  readonly left: readonly Finding[];
  /** The names that stay, with the reason: nothing is to be done at these places. */
  readonly stays: readonly Finding[];
}

export function rewriteModule(source: string, module: ParsedModule, mapping: Mapping): RewrittenModule {
  const edit = new MagicString(source);
  const left: Finding[] = [];
  const stays: Finding[] = [];
  let keepsOfficial = module.mentions.length > 0;
  const note = (line: number, move: Move): void => {
    if (move.to === undefined) keepsOfficial = true;
    if (move.left !== undefined) left.push({ line, what: move.left });
  };
  for (const reference of module.references) {
    const { specifier, line, declaration } = reference;
    if (declaration?.isPlain === true) {
      const moves = declaration.names.map((name) => mapping.moveName(specifier, name.imported));
      for (const move of moves) note(line, move);
      for (const why of new Set(moves.flatMap((move) => move.stays ?? []))) {
        const names = declaration.names.filter((_, index) => moves[index]?.stays === why).map(({ imported }) => imported);
        stays.push({ line, what: `${names.join(', ')} ${names.length === 1 ? 'stays' : 'stay'} ${why}` });
      }
      if (
        rewriteDeclaration(edit, source, reference, declaration, moves) &&
        /\/[/*]/.test(source.slice(declaration.start, reference.start))
      )
        left.push({ line, what: 'this import is split, without the comments in it: put them where they belong' });
    } else {
      const move = mapping.moveModule(specifier);
      note(line, move);
      if (move.to !== undefined) edit.update(reference.start, reference.end, quoteLike(source, reference, move.to));
    }
  }
  for (const { text, line } of module.mentions)
    left.push({ line, what: `${text === 'a comment' ? text : `the text "${shorten(text)}"`} names an official module: change it by hand` });
  return { text: edit.toString(), keepsOfficial, left: unique([...left, ...mapping.find(module)]), stays };
}

/** @returns Whether the names part, so that the declaration is written anew. */
function rewriteDeclaration(
  edit: MagicString,
  source: string,
  reference: ModuleReference,
  declaration: NamedDeclaration,
  moves: readonly Move[],
): boolean {
  const { specifier } = reference;
  const homes = new Map<string, string[]>();
  declaration.names.forEach((name, index) => {
    const { to = specifier, name: renamed = name.imported } = moves[index] ?? {};
    homes.set(to, [...(homes.get(to) ?? []), writeName(name, renamed)]);
  });
  const [only = specifier] = homes.keys();
  if (homes.size === 1) {
    declaration.names.forEach((name, index) => {
      const renamed = moves[index]?.name;
      if (renamed !== undefined) edit.update(name.start, name.end, writeName(name, renamed));
    });
    if (only !== specifier) edit.update(reference.start, reference.end, quoteLike(source, reference, only));
    return false;
  }
  const end = source.slice(declaration.start, declaration.end).endsWith(';') ? ';' : '';
  const lineEnd = source.includes('\r\n') ? '\r\n' : '\n';
  const indent = /[^\S\r\n]*$/.exec(source.slice(0, declaration.start))?.[0] ?? '';
  const statements = Array.from(
    homes,
    ([to, names]) => `${declaration.keyword} { ${names.join(', ')} } from ${quoteLike(source, reference, to)}${end}`,
  );
  edit.update(declaration.start, declaration.end, statements.join(lineEnd + indent));
  return true;
}

function writeName({ local, isType }: TakenName, renamed: string): string {
  return `${isType ? 'type ' : ''}${renamed === local ? local : `${renamed} as ${local}`}`;
}

function quoteLike(source: string, { start }: ModuleReference, text: string): string {
  const quote = source[start] ?? "'";
  return quote + text + quote;
}

function shorten(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return line.length > 80 ? `${line.slice(0, 80)}...` : line;
}

function unique(findings: readonly Finding[]): readonly Finding[] {
  const byKey = new Map(findings.map((finding) => [`${finding.line} ${finding.what}`, finding]));
  return [...byKey.values()].sort((a, b) => a.line - b.line);
}
