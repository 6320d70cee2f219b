/** `files(root)`: the files of a directory as resources. */

import { statSync } from 'node:fs';
import { basename, isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProtocolError } from '@mortise/jsonrpc-core';
import { INTERNAL_ERROR } from '@mortise/jsonrpc-core/messages';
import { checkOptions } from '@mortise/jsonrpc-core/transport';
import type { ReadContent } from '../config.ts';
import type { HandlerContext } from '../handler-context.ts';
import type { ResourceTemplateDefinition } from '../define-tool.ts';
import { RegistrationError } from '../errors.ts';
import { rank } from '../rank.ts';
import { type ListedResource, ResourceTemplate } from '../resource-template.ts';
import { mediaTypeOf } from './media-types.ts';
import { type SafeEntry, SafeRoot } from './safe-root.ts';

/** How many files `resources/list` shows; the ones nearest to the root come first. */
const MAX_LISTED = 1_000;

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
 * Text in UTF-8 is given as text, all else as bytes. Directories are not resources.
 *
 * @param root A path, from the working directory of the process, or a `file:` URL.
 * @throws {RegistrationError} `ERR_REGISTRATION`: there is no directory, or an option is not known or has an invalid value.
 * @see 2026-07-28 server/resources#security-considerations
 */
export function files<App = unknown>(root: string | URL, options: FilesOptions<App> = {}): ResourceTemplateDefinition<App> {
  checkOptions('files', options, { uri: 'string', allow: 'function', hidden: 'boolean', maxBytes: 0 }, RegistrationError);
  const path = resolve(root instanceof URL ? fileURLToPath(root) : root);
  requireDirectory(path, root);
  const folder = new Folder<App>(path, options);
  return {
    kind: 'resource template',
    template: new ResourceTemplate(`${folder.uri}/{+path}`, {
      list: async (ctx) => ({ resources: (await folder.list(ctx as HandlerContext<App>)).map((entry) => folder.describe(entry)) }),
      complete: {
        path: async (typed, _context, ctx) =>
          rank(
            typed,
            (await folder.list(ctx as HandlerContext<App>)).map(({ path: each }) => each),
          ),
      },
    }),
    config: {},
    read: (_uri, { path: asked }, ctx) => folder.read(String(asked), ctx),
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
  readonly uri: string;
  readonly #root: SafeRoot;
  readonly #options: FilesOptions<App>;

  constructor(path: string, options: FilesOptions<App>) {
    this.uri = options.uri ?? `file:///${encodeURIComponent(basename(path))}`;
    this.#root = new SafeRoot(path, options.hidden);
    this.#options = options;
  }

  async read(path: string, ctx: HandlerContext<App>): Promise<ReadContent | undefined> {
    const entry = await this.#root.find(path);
    if (!entry || !(await this.#isAllowed(entry, ctx))) return undefined;
    const { maxBytes = 4 * 1024 * 1024 } = this.#options;
    const bytes = await this.#root.read(entry, maxBytes);
    if (bytes === 'too large')
      throw new ProtocolError(INTERNAL_ERROR, `The file is longer than ${maxBytes} bytes, the most that this server gives at once`);
    return bytes && toContent(bytes, mediaTypeOf(path));
  }

  async list(ctx: HandlerContext<App>): Promise<readonly SafeEntry[]> {
    const entries: SafeEntry[] = [];
    for await (const entry of this.#root.walk(async (each) => this.#isAllowed(each, ctx))) {
      entries.push(entry);
      if (entries.length === MAX_LISTED) break;
    }
    return entries;
  }

  /** Allowed is what is allowed by the path it was asked for and by the path where it really is, with each directory above. */
  async #isAllowed(entry: SafeEntry, ctx: HandlerContext<App>): Promise<boolean> {
    const { allow } = this.#options;
    if (!allow) return true;
    for (const path of new Set([entry.path, entry.realPath])) {
      const names = path.split('/');
      for (const index of names.keys()) if (!(await allow(names.slice(0, index + 1).join('/'), ctx))) return false;
    }
    return true;
  }

  describe({ path, size, modifiedAtMs }: SafeEntry): ListedResource {
    return {
      uri: `${this.uri}/${path.split('/').map(encodeURIComponent).join('/')}`,
      name: path,
      mimeType: mediaTypeOf(path),
      size,
      annotations: { lastModified: new Date(modifiedAtMs).toISOString() },
    };
  }
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
