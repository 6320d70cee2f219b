/** `watchFolder`: calls back when a source file changes, or another beside it. */

import { once } from 'node:events';
import { dirname } from 'node:path';
import { watch } from 'chokidar';

/** How long a folder must be quiet before a change counts, in milliseconds: an editor writes several files, or one in pieces. */
const QUIET_MS = 50;
/** What can be part of a program. Others, such as a log or a database, may be written by the server itself. */
const SOURCE = /\.[cm]?[jt]sx?$/;
/** Parts of a path that are not watched: what is installed, and folders and files with a dot. */
const HIDDEN = /[/\\](?:node_modules|\.[^/\\]+)(?:[/\\]|$)/;

/**
 * Watches the source files in the folder of a file, and in those below it. Resolves when no change is missed any more.
 *
 * @param onChange Called once for changes that come together, and never twice at once. Must not reject.
 * @returns A function that ends the watching. A call that is under way goes on.
 */
export async function watchFolder(file: string, onChange: () => Promise<void>): Promise<() => Promise<void>> {
  const folder = dirname(file);
  const watcher = watch(folder, { ignored: (path) => HIDDEN.test(path.slice(folder.length)), ignoreInitial: true });
  let calling = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  watcher.on('all', (_event, path) => {
    if (!SOURCE.test(path)) return;
    clearTimeout(timer);
    timer = setTimeout(() => (calling = calling.then(onChange)), QUIET_MS);
  });
  await once(watcher, 'ready');
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
