/** `@mortise/client/node`: serves the readable folders of this machine as roots. */

import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { ClockTimer } from '@mortise/jsonrpc-core';
import { checkOptions, systemClock } from '@mortise/jsonrpc-core/transport';
import type { Root } from '@mortise/protocol/model';

/** A folder: its path, or its path and a display name. */
export type Folder = string | { readonly path: string; readonly name?: string | undefined };

/** The options of `folderRoots`. */
export interface FolderRootsOptions {
  /** Called with each folder that is left out, and the reason. @default none */
  readonly onUnavailable?: ((path: string, error: unknown) => unknown) | undefined;
}

/** A client that can notify its server of changed roots, such as `McpClient`. */
export interface RootsListener {
  sendRootsListChanged(): Promise<void>;
}

/** A function that lists roots, for the option `roots` or for `onListRoots`. */
export interface FolderRoots {
  (): Promise<readonly Root[]>;
  /**
   * Checks at an interval whether a folder was added, removed or has other permissions, and notifies the client's server of a change.
   *
   * @param options.intervalMs How often to check, in milliseconds. @default 30_000
   * @returns A function that ends the checks.
   */
  announce(client: RootsListener, options?: { readonly intervalMs?: number | undefined }): () => void;
}

/**
 * Makes roots from folders. At each request from a server, symbolic links are resolved, and paths that are missing, unreadable or not a
 * folder are left out.
 *
 * Does NOT restrict the server to these folders: roots are a hint, not access control.
 *
 * @deprecated since 2026-07-28, with roots: pass them as tool arguments, resource URIs or configuration.
 * @see 2026-07-28 client/roots
 */
export function folderRoots(folders: readonly Folder[], options: FolderRootsOptions = {}): FolderRoots {
  checkOptions('folderRoots options', options, { onUnavailable: 'function' });
  const { onUnavailable } = options;
  const list = async (): Promise<readonly Root[]> => {
    const all = await Promise.all(
      folders.map((folder) => {
        const { path, name } = typeof folder === 'string' ? { path: folder } : folder;
        return toRoot(path, name).catch((error: unknown) => void onUnavailable?.(path, error));
      }),
    );
    return all.filter((root) => root !== undefined);
  };
  const announce: FolderRoots['announce'] = (client, { intervalMs = 30_000 } = {}) => {
    let timer: ClockTimer | undefined;
    let isOver = false;
    let last: string | undefined;
    const look = async (): Promise<void> => {
      const now = JSON.stringify(await list());
      if (isOver) return;
      // A client that is not connected has no server to notify.
      if (last !== undefined && last !== now) await client.sendRootsListChanged().catch(() => undefined);
      last = now;
      if (!isOver) timer = systemClock.schedule(() => void look(), intervalMs);
    };
    void look();
    return () => {
      isOver = true;
      timer?.cancel();
    };
  };
  return Object.assign(list, { announce });
}

async function toRoot(path: string, name: string | undefined): Promise<Root> {
  const real = await realpath(path);
  if (!(await stat(real)).isDirectory()) throw new Error(`root "${path}" is not a folder`);
  await access(real, constants.R_OK | constants.X_OK);
  return { uri: pathToFileURL(real).href, ...(name !== undefined && { name }) };
}
