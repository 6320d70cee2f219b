/** Rewrites the dependencies of a `package.json`. Order, indentation and line ends stay. */

import { parseExpression } from '@babel/parser';
import type { ObjectExpression, ObjectProperty } from '@babel/types';
import MagicString from 'magic-string';
import type { Finding } from './mapping.ts';
import { lineOf, spanOf } from './module-references.ts';

const SECTIONS = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'];

/** What a manifest must name after the rewriting. */
export interface ManifestChange {
  /** The official packages to replace. */
  readonly replaced: readonly string[];
  /** The packages to add in their place, with their ranges. */
  readonly added: ReadonlyMap<string, string>;
  /** Whether sources still import the official packages, so that these stay beside the new ones. */
  readonly keepsOfficial: boolean;
}

export interface RewrittenManifest {
  readonly text: string;
  readonly left: readonly Finding[];
}

/** @throws {SyntaxError} The text is not a JSON object. */
export function rewriteManifest(source: string, change: ManifestChange): RewrittenManifest {
  const { replaced } = change;
  const root = parseExpression(source);
  if (root.type !== 'ObjectExpression') throw new SyntaxError('package.json must hold an object');
  const edit = new MagicString(source);
  const left: Finding[] = [];
  const sections = propertiesOf(root).filter(({ value }) => value.type === 'ObjectExpression');
  const present = new Set(sections.filter(isSection).flatMap(({ value }) => propertiesOf(value as ObjectExpression).map(keyOf)));
  for (const section of sections) {
    const members = propertiesOf(section.value as ObjectExpression);
    if (isSection(section)) rewriteSection(edit, source, members, change, present);
    else for (const member of members) left.push(...findMentions(source, member, replaced));
  }
  return { text: edit.toString(), left };
}

/** Puts the new packages in the place of the first replaced one of a section, one a line, and removes the others. */
function rewriteSection(
  edit: MagicString,
  source: string,
  members: readonly ObjectProperty[],
  { replaced, added, keepsOfficial }: ManifestChange,
  present: ReadonlySet<string>,
): void {
  const first = members.find((member) => replaced.includes(keyOf(member)));
  if (first === undefined) return;
  const { start, end } = spanOf(first);
  const gap = /\s*$/.exec(source.slice(0, start))?.[0] ?? ' ';
  const lines = [...added]
    .filter(([name]) => !present.has(name))
    .map(([name, range]) => `${JSON.stringify(name)}: ${JSON.stringify(range)}`);
  if (keepsOfficial) return void edit.appendRight(end, lines.map((line) => `,${gap}${line}`).join(''));
  if (lines.length > 0) edit.update(start, end, lines.join(`,${gap}`));
  const isKept = (member: ObjectProperty): boolean => (member === first ? lines.length > 0 : !replaced.includes(keyOf(member)));
  removeMembers(edit, members, isKept);
}

/** Removes members with the comma before them, or with the one behind them while no member before them is kept. */
function removeMembers(edit: MagicString, members: readonly ObjectProperty[], isKept: (member: ObjectProperty) => boolean): void {
  let from: number | undefined;
  for (const [index, member] of members.entries()) {
    const { start, end } = spanOf(member);
    const next = members[index + 1];
    if (isKept(member)) from = end;
    else if (from === undefined) edit.remove(start, next === undefined ? end : spanOf(next).start);
    else {
      edit.remove(from, end);
      from = end;
    }
  }
}

/** Overrides, resolutions and the like name the official package for a reason that only their author knows. */
function findMentions(source: string, member: ObjectProperty, replaced: readonly string[]): readonly Finding[] {
  const { start, end } = spanOf(member);
  const name = replaced.find((each) => source.slice(start, end).includes(each));
  return name === undefined ? [] : [{ line: lineOf(member), what: `it names ${name} outside the dependencies: change it by hand` }];
}

function isSection(property: ObjectProperty): boolean {
  return SECTIONS.includes(keyOf(property));
}

function propertiesOf(object: ObjectExpression): readonly ObjectProperty[] {
  return object.properties.filter((property): property is ObjectProperty => property.type === 'ObjectProperty');
}

function keyOf({ key }: ObjectProperty): string {
  return key.type === 'StringLiteral' ? key.value : '';
}
