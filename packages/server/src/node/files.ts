/** `files(root)`: the files of a directory as resources. */

import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { CompleteContext } from '../completable.ts';
import type { ReadContent } from '../config.ts';
import type { HandlerContext } from '../handler-context.ts';
import type { ResourceDefinition, ResourceTemplateDefinition } from '../define-tool.ts';
import { RegistrationError } from '../errors.ts';
import { rank } from '../rank.ts';
import { type ListedResource, ResourceTemplate } from '../resource-template.ts';
import { DIRECTORY_TYPE, mediaTypeOf } from './media-types.ts';
import { type SafeEntry, SafeRoot } from './safe-root.ts';

/** How many files `resources/list` shows; the ones nearest to the root come first. */
const MAX_LISTED = 1_000;
/** How deep a list goes. */
const MAX_DEPTH = 32;

/** Which files are served, and how. */
export interface FilesOptions<App = unknown> {
  /** The URI of the root, without a slash at its end. @default `file:///` and the root's own name, so that no path of the machine shows */
  readonly uri?: string | undefined;
  /** Whether a caller may see a file or directory. @param path From the root, with `/`. @default everyone may */
  readonly allow?: ((path: string, ctx: HandlerContext<App>) => boolean | Promise<boolean>) | undefined;
  /** Serves names that begin with a dot, `.env` among them. @default false */
  readonly hidden?: boolean | undefined;
  /** A longer file is refused. @default 4 MiB */
  readonly maxBytes?: number | undefined;
}

/** The files of a directory, ready to be registered. */
export interface FilesResource<App = unknown> extends ResourceTemplateDefinition<App> {
  /** The root itself, whose contents are the names in it: the template has no URI for it. */
  readonly directory: ResourceDefinition<App>;
}

/**
 * Serves the files below a directory as a resource template with list and completion.
 *
 * ```ts
 * const docs = files(new URL('./docs', import.meta.url));
 * server.registerResource('docs', docs.template, docs.config, docs.read);
 * ```
 *
 * Nothing outside the root is read: not by `..` in any encoding, absolute paths, NUL, backslashes or drive names, and not through
 * symbolic links, also ones that are put in place while a file is being opened. Whatever may not be read is answered like what
 * does not exist. Pipes and devices are never opened. Does NOT know hard links from files.
 *
 * Text in UTF-8 is given as text, all else as bytes; a directory as `inode/directory`, whose text is one name a line.
 *
 * @param root A path, from the working directory of the process, or a `file:` URL.
 * @throws {RegistrationError} `ERR_REGISTRATION`: there is no directory, or an option is not known or has an invalid value.
 * @see 2026-07-28 server/resources#security-considerations
 */
export function files<App = unknown>(root: string | URL, options: FilesOptions<App> = {}): FilesResource<App> {
  checkOptions('files', options, { uri: 'string', allow: 'function', hidden: 'boolean', maxBytes: 0 }, RegistrationError);
  const path = resolve(root instanceof URL ? fileURLToPath(root) : root);
  requireDirectory(path, root);
  const uri = options.uri ?? `file:///${encodeURIComponent(basename(path))}`;
  const folder = new Folder<App>(new SafeRoot(path, options.hidden), uri, options);
  const template = new ResourceTemplate(`${uri}/{+path}`, {
    list: (ctx) => folder.list(ctx as HandlerContext<App>),
    complete: { path: (typed: string, _context: CompleteContext, ctx: unknown) => folder.complete(typed, ctx as HandlerContext<App>) },
  });
  return {
    kind: 'resource template',
    template,
    config: {},
    read: (_uri, { path: asked }, ctx) => folder.read(typeof asked === 'string' ? asked : '', ctx),
    directory: { kind: 'resource', uri, config: { mimeType: DIRECTORY_TYPE }, read: (_uri, ctx) => folder.read('', ctx) },
  };
}

function requireDirectory(path: string, root: string | URL): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const remedy =
    typeof root === 'string' && !isAbsolute(root)
      ? `: a relative path begins at the working directory, new URL(${JSON.stringify(root)}, import.meta.url) at the module`
      : '';
  throw new RegistrationError(`files(): there is no directory at "${path}"${remedy}`);
}

class Folder<App> {
  readonly #root: SafeRoot;
  readonly #uri: string;
  readonly #options: FilesOptions<App>;

  constructor(root: SafeRoot, uri: string, options: FilesOptions<App>) {
    this.#root = root;
    this.#uri = uri;
    this.#options = options;
  }

  async read(asked: string, ctx: HandlerContext<App>): Promise<ReadContent | undefined> {
    // A directory may be asked for with a slash at its end.
    const path = asked.endsWith('/') ? asked.slice(0, -1) : asked;
    const entry = await this.#root.stat(path);
    if (entry === undefined || !(await this.#isAllowed(entry, ctx))) return undefined;
    if (entry.isDirectory) return { mimeType: DIRECTORY_TYPE, text: await this.#names(path, ctx) };
    const { maxBytes = 4 * 1024 * 1024 } = this.#options;
    const bytes = await this.#root.read(path, maxBytes);
    if (bytes === 'too large')
      throw new ProtocolError(INTERNAL_ERROR, `The file is longer than ${maxBytes} bytes, the most that this server gives at once`);
    return bytes === undefined ? undefined : toContent(bytes, mediaTypeOf(path));
  }

  async list(ctx: HandlerContext<App>): Promise<{ readonly resources: readonly ListedResource[] }> {
    const resources: ListedResource[] = [];
    for await (const entry of this.#filesBelow(ctx)) {
      if (resources.length >= MAX_LISTED) break;
      resources.push(this.#describe(entry));
    }
    return { resources };
  }

  /** Level by level, so that what is near the root comes first. Links to directories are not entered: they could lead in circles. */
  async *#filesBelow(ctx: HandlerContext<App>): AsyncGenerator<SafeEntry, void, undefined> {
    let level = [''];
    for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
      const below: string[] = [];
      for (const directory of level) {
        for await (const entry of this.#allowedIn(directory, ctx)) {
          if (!entry.isDirectory) yield entry;
          else if (entry.path === entry.realPath) below.push(entry.path);
        }
      }
      level = below;
    }
  }

  /** Suggests what is in the directory that has been typed, directories with a slash at their end. */
  async complete(typed: string, ctx: HandlerContext<App>): Promise<readonly string[]> {
    const directory = typed.includes('/') ? typed.slice(0, typed.lastIndexOf('/')) : '';
    const paths = new Map<string, string>();
    for await (const entry of this.#allowedIn(directory, ctx)) paths.set(nameOf(entry), entry.isDirectory ? `${entry.path}/` : entry.path);
    return rank(typed.slice(typed.lastIndexOf('/') + 1), paths.keys()).flatMap((name) => paths.get(name) ?? []);
  }

  async #names(path: string, ctx: HandlerContext<App>): Promise<string> {
    let names = '';
    for await (const entry of this.#allowedIn(path, ctx)) names += `${nameOf(entry)}${entry.isDirectory ? '/' : ''}\n`;
    return names;
  }

  async *#allowedIn(directory: string, ctx: HandlerContext<App>): AsyncGenerator<SafeEntry, void, undefined> {
    const entry = await this.#root.stat(directory);
    if (entry === undefined || !(await this.#isAllowed(entry, ctx))) return;
    for await (const each of this.#root.list(directory)) if (await this.#isAllowed(each, ctx)) yield each;
  }

  /** Allowed is what is allowed by the path it was asked for and by the path where it really is, with each directory above. */
  async #isAllowed(entry: SafeEntry, ctx: HandlerContext<App>): Promise<boolean> {
    const { allow } = this.#options;
    if (allow === undefined) return true;
    for (const path of new Set([entry.path, entry.realPath])) {
      const segments = path === '' ? [] : path.split('/');
      for (let i = 1; i <= segments.length; i += 1) if (!(await allow(segments.slice(0, i).join('/'), ctx))) return false;
    }
    return true;
  }

  #describe(entry: SafeEntry): ListedResource {
    const mimeType = mediaTypeOf(entry.path);
    return {
      uri: `${this.#uri}/${entry.path.split('/').map(encodeURIComponent).join('/')}`,
      name: entry.path,
      ...(mimeType === undefined ? undefined : { mimeType }),
      size: entry.size,
      annotations: { lastModified: new Date(entry.modifiedAtMs).toISOString() },
    };
  }
}

function nameOf(entry: SafeEntry): string {
  return entry.path.slice(entry.path.lastIndexOf('/') + 1);
}

/** Text is valid UTF-8 without a NUL. */
function toContent(bytes: Uint8Array, mimeType: string | undefined): ReadContent {
  if (!bytes.includes(0)) {
    try {
      return { mimeType: mimeType ?? 'text/plain', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      // Not UTF-8: given as bytes below.
    }
  }
  return { mimeType: mimeType ?? 'application/octet-stream', blob: bytes };
}
