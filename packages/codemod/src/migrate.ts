/** Moves the programs of a folder from the official SDK to Mortise. */

import { readFile, writeFile } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { findFiles, type FoundFile } from './find-files.ts';
import { findObstacles, keepsLowLevelServer, takes } from './find-obstacles.ts';
import type { Finding, Mapping } from './mapping.ts';
import { type ParsedModule, parseModule } from './module-references.ts';
import { rangeOf } from './ranges.ts';
import { rewriteManifest } from './rewrite-manifest.ts';
import { rewriteModule } from './rewrite-module.ts';
import type { Group } from './same-members.ts';
import { COMPAT_PACKAGE, compatV1, namesV1, nativeV1, needsOf, V1_PACKAGE } from './v1.ts';
import { mapV2, namesV2 } from './v2.ts';

/** The options of `migrate`. */
export interface MigrateOptions {
  /** The version of the official SDK that the program uses. */
  readonly from: 'v1' | 'v2';
  /** Moves v1 onto Mortise's own API where that is sure, instead of `@mortise/compat-v1`. Has no effect for v2. @default false */
  readonly native?: boolean | undefined;
  /** Writes nothing, and fills `diff`. @default false */
  readonly dryRun?: boolean | undefined;
}

/** A place that a person has to look at. */
export interface Left extends Finding {
  /** The path of the file, relative to the folder. */
  readonly file: string;
  /** Whether this only names what stays, and why. @default false */
  readonly isStay?: boolean | undefined;
}

/** What was changed, and what is left. */
export interface Migration {
  /** The files that were changed (`dryRun`: that would be changed), relative to the folder. */
  readonly changed: readonly string[];
  /** First the uses to change, then the names that stay because of them, or for good. */
  readonly left: readonly Left[];
  /** The change as a unified diff; empty unless `dryRun` is set. */
  readonly diff: string;
}

interface Text {
  readonly file: FoundFile;
  readonly source: string;
  /** False for a file that would be another one if it were written back. */
  readonly isUtf8: boolean;
}

/** What the sources below one `package.json` import after the rewriting. */
interface Imports {
  readonly modules: Set<string>;
  keepsOfficial: boolean;
}

/**
 * Rewrites the imports of all source files of a folder, and the dependencies of its `package.json` files. Running it twice changes nothing.
 *
 * Does NOT run the package manager.
 *
 * A file that cannot be read, parsed or written is listed.
 *
 * @throws {Error} The folder cannot be read, or its sources import the other version of the official SDK, and not this one.
 */
export async function migrate(folder: string, options: MigrateOptions): Promise<Migration> {
  const { dryRun = false } = options;
  const files = await findFiles(folder);
  const mapping = await chooseMapping(files, options);
  await checkVersion(files, mapping, options.from);
  const changed: string[] = [];
  const left: Left[] = [];
  const stays: Left[] = [];
  let diff = '';
  const imports = new Map<string, Imports>();
  const manifests = await findOwners(files, mapping);
  // Manifests come last: what they need is known when all sources are rewritten.
  const ordered = [...files.filter(({ kind }) => kind !== 'manifest'), ...files.filter(({ kind }) => kind === 'manifest')];
  for (const file of ordered) {
    const name = relative(folder, file.path).split(sep).join('/');
    try {
      const text = await readText(file);
      const result = text.isUtf8 ? rewrite(text, mapping, importsOf(imports, manifests, file.path)) : unreadable(text, mapping);
      left.push(...result.left.map(({ line, what }) => ({ file: name, line, what })));
      stays.push(...(result.stays ?? []).map(({ line, what }) => ({ file: name, line, what, isStay: true })));
      if (result.text === undefined || result.text === text.source) continue;
      if (dryRun) diff += createTwoFilesPatch(name, name, text.source, result.text, undefined, undefined, { context: 3 });
      else await writeFile(file.path, result.text);
      changed.push(name);
    } catch (error) {
      left.push({ file: name, line: 1, what: `it could not be read or written (${(error as Error).message})` });
    }
  }
  return { changed, left: [...left, ...stays], diff };
}

interface Rewritten {
  readonly text?: string | undefined;
  readonly left: readonly Finding[];
  readonly stays?: readonly Finding[] | undefined;
}

function rewrite({ file, source }: Text, mapping: Mapping, imports: Imports): Rewritten {
  if (file.kind === 'manifest') return rewritePackage(source, mapping, imports);
  if (file.kind === 'source') return rewriteSource(file, source, mapping, imports);
  // A page or a component may import an official module; data does not.
  if (mapping.owns(source) && !/\.json[c5]?$/.test(file.path)) imports.keepsOfficial = true;
  return { left: findLines(source, mapping) };
}

function rewriteSource(file: FoundFile, source: string, mapping: Mapping, imports: Imports): Rewritten {
  try {
    const result = mayMatter(source, mapping) ? rewriteModule(source, parseModule(file.path, source, mapping.owns), mapping) : undefined;
    const { text = source, keepsOfficial = false } = result ?? {};
    imports.keepsOfficial ||= keepsOfficial;
    if (!text.includes(OWN)) return result ?? { left: [] };
    const own = parseModule(file.path, text, isOwn);
    for (const { specifier } of own.references) imports.modules.add(specifier);
    return { text, stays: result?.stays, left: [...(result?.left ?? []), ...(mapping.findTorn?.(own) ?? [])] };
  } catch (error) {
    if (!mapping.owns(source)) return { left: [] };
    imports.keepsOfficial = true;
    return { left: [{ line: 1, what: `it could not be parsed (${(error as Error).message}): change it by hand` }] };
  }
}

const OWN = '@mortise/';
const isOwn = (text: string): boolean => text.startsWith(OWN);

/** Whether a source must be parsed: it names an official module, or calls methods that may differ. */
function mayMatter(source: string, mapping: Mapping): boolean {
  return (
    mapping.owns(source) || /\.(?:registerTool|registerPrompt|registerResource|tool|prompt|resource|callTool)\(|client\??\.\w/i.test(source)
  );
}

function rewritePackage(source: string, mapping: Mapping, { modules, keepsOfficial }: Imports): Rewritten {
  const named = mapping.packages.filter((name) => source.includes(`"${name}"`));
  const names = new Set([...modules].flatMap((module) => [toPackage(module), ...needsOf(module)]));
  const isMoved = source.includes('"@mortise/');
  // A dependency that no source imports, as in the root of a workspace, becomes compat.
  if (names.size === 0 && !isMoved && !keepsOfficial && named.some((name) => name === V1_PACKAGE)) names.add(COMPAT_PACKAGE);
  const replaced = named.filter((name) => !names.has(name) && (names.size > 0 || name !== COMPAT_PACKAGE));
  if (named.length === 0 || (names.size === 0 && (!isMoved || replaced.length === 0))) return { left: [] };
  const isKept = keepsOfficial || replaced.length === 0;
  const { text, left } = rewriteManifest(source, {
    replaced: isKept ? named : replaced,
    added: new Map(Array.from(names, (name) => [name, rangeOf(name)])),
    keepsOfficial: isKept,
  });
  const kept = `${replaced.join(', ')} stays, because sources still import it: when they do not, run this again`;
  return { text, left: keepsOfficial && replaced.length > 0 ? [...left, { line: 1, what: kept }] : left };
}

/** `@mortise/server/low-level` is an entry of `@mortise/server`. */
function toPackage(module: string): string {
  return module.split('/').slice(0, 2).join('/');
}

const ZOD_3 = 'package.json names zod 3, whose schemas need fromZodV3 of @mortise/server/zod. With zod 4.2 it moves';
const LISTED = 'because of the uses that are listed';
const WITH_ITS_SERVER = 'a server stays, and reads authInfo and requestInfo from it. It moves when no server stays';

/** Chooses how to map. Onto our own API, first reads all files for uses that differ here. */
async function chooseMapping(files: readonly FoundFile[], { from, native = false }: MigrateOptions): Promise<Mapping> {
  if (from === 'v1' && !native) return compatV1;
  const [names, make] = from === 'v1' ? [namesV1, nativeV1] : [namesV2, mapV2];
  const mapping = make(new Map(), new Set());
  const staying = new Map<Group, string>();
  const modules: ParsedModule[] = [];
  let keepsServer = false;
  for (const file of files) {
    const { source } = await readText(file).catch(() => ({ source: '' }));
    if (file.kind === 'manifest' && /"zod"\s*:\s*"[~^>=v\s]*3\b/.test(source)) staying.set('server', ZOD_3);
    if (file.kind !== 'source' || !mayMatter(source, mapping)) continue;
    try {
      modules.push(parseModule(file.path, source, mapping.owns));
    } catch {
      // It is listed when its turn comes. It may hold a server.
      keepsServer ||= mapping.owns(source);
    }
  }
  const taken = new Set((['server', 'client'] as const).filter((group) => modules.some((module) => takes(group, module, names))));
  keepsServer ||= modules.some(keepsLowLevelServer);
  for (const { group } of modules.flatMap((module) => findObstacles(module, names, taken))) staying.set(group, LISTED);
  if ((keepsServer || staying.has('server')) && !staying.has('http-server')) staying.set('http-server', WITH_ITS_SERVER);
  return make(staying, taken);
}

/** @throws {Error} The sources import the other version of the official SDK, and not this one. */
async function checkVersion(files: readonly FoundFile[], mapping: Mapping, from: 'v1' | 'v2'): Promise<void> {
  const other = from === 'v1' ? 'v2' : 'v1';
  const otherMapping = other === 'v1' ? compatV1 : mapV2(new Map(), new Set());
  let found: string | undefined;
  for (const file of files) {
    if (file.kind !== 'source') continue;
    const { source } = await readText(file).catch(() => ({ source: '' }));
    if (mapping.owns(source)) return;
    if (found !== undefined || !otherMapping.owns(source)) continue;
    try {
      found = parseModule(file.path, source, otherMapping.owns).references[0]?.specifier;
    } catch {
      // It says nothing of the version.
    }
  }
  if (found !== undefined)
    throw new Error(`no source imports the official SDK ${from}; this program uses ${other} ("${found}"): run "codemod ${other}" on it`);
}

/** Finds the manifests that name an official package. A source belongs to the nearest of them above it. */
async function findOwners(files: readonly FoundFile[], mapping: Mapping): Promise<readonly string[]> {
  const owners: string[] = [];
  for (const file of files.filter(({ kind }) => kind === 'manifest')) {
    const { source } = await readText(file).catch(() => ({ source: '' }));
    if (mapping.packages.some((name) => source.includes(`"${name}"`))) owners.push(file.path);
  }
  return owners;
}

function importsOf(imports: Map<string, Imports>, manifests: readonly string[], path: string): Imports {
  const above = manifests.filter((manifest) => path.startsWith(dirname(manifest) + sep));
  const nearest = above.reduce((a, b) => (b.length > a.length ? b : a), '');
  const found = imports.get(nearest) ?? { modules: new Set(), keepsOfficial: false };
  imports.set(nearest, found);
  return found;
}

function findLines(source: string, mapping: Mapping): readonly Finding[] {
  if (!mapping.owns(source)) return [];
  return source
    .split('\n')
    .flatMap((text, index) =>
      mapping.owns(text)
        ? [{ line: index + 1, what: 'it names an official module, in a file that is not rewritten: change it by hand' }]
        : [],
    );
}

async function readText(file: FoundFile): Promise<Text> {
  const bytes = await readFile(file.path);
  try {
    return { file, source: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), isUtf8: true };
  } catch {
    return { file, source: bytes.toString('latin1'), isUtf8: false };
  }
}

function unreadable({ source }: Text, mapping: Mapping): Rewritten {
  return { left: mapping.owns(source) ? [{ line: 1, what: 'it is not UTF-8 text: change it by hand' }] : [] };
}
