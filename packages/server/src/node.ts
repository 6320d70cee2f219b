/** `@mortise/server/node`: features that need Node's own modules. */

export { files, type FilesOptions } from './node/files.ts';
export { isInRoots } from './node/is-in-roots.ts';
