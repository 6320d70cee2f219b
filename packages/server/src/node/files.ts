/** `files(root)`: serves the files of a directory as resources. */

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

/** How many files `resources/list` shows. Files nearest to the root come first. */
const MAX_LISTED = 1_000;

/** Options of `files`: which files are served, and how. */
export interface FilesOptions<App = unknown> {
  /** The URI of the root, without a trailing slash. @default `file:///` and the directory's own name, so that no path of the machine is visible */
  readonly uri?: string | undefined;
  /** Whether a caller may see a file or directory. @param path Relative to the root, with `/`. @default every file is visible to every caller */
  readonly allow?: ((path: string, ctx: HandlerContext<App>) => boolean | Promise<boolean>) | undefined;
  /** Whether to serve files and directories whose names begin with a dot, such as `.env`. @default false */
  readonly hidden?: boolean | undefined;
  /** The largest file that is served, in bytes. Reading a larger one is an error. @default 4 MiB */
  readonly maxBytes?: number | undefined;
}

/**
 * Makes a resource template, with list and completion, for the files below a directory.
 *
 * ```ts
 * const docs = files(new URL('./docs', import.meta.url));
 * server.registerResource('docs', docs.template, docs.config, docs.read);
 * ```
 *
 * Files outside the root are never read: not by `..` in any encoding, absolute paths, NUL, backslashes or drive names, and not through symbolic
 * links, even one created while a file is being opened. Clients cannot tell a forbidden file from a missing one. Pipes and devices are never opened.
 * Does NOT detect hard links.
 *
 * Valid UTF-8 is sent as text, everything else as bytes. Directories are not resources.
 *
 * @param root A path relative to the working directory of the process, an absolute path, or a `file:` URL.
 * @throws {RegistrationError} `ERR_REGISTRATION`: the directory does not exist, or an option is unknown or invalid.
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
      ? `: a relative path starts at the working directory; to start at the module, pass new URL(${JSON.stringify(root)}, import.meta.url)`
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
      throw new ProtocolError(INTERNAL_ERROR, `The file is larger than ${maxBytes} bytes, the limit of this server (option maxBytes)`);
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

  /** Tells whether the option `allow` permits the requested path, the path with symbolic links resolved, and every directory above both. */
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

/** Makes the content of a file's resource: text if the bytes are valid UTF-8 without NUL, otherwise bytes. */
function toContent(bytes: Uint8Array, mimeType: string | undefined): ReadContent {
  if (!bytes.includes(0)) {
    try {
      return { mimeType: mimeType ?? 'text/plain', text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
    } catch {
      // Not UTF-8: sent as bytes below.
    }
  }
  return { mimeType: mimeType ?? 'application/octet-stream', blob: bytes };
}
