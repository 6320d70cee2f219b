/** `@mortise/server/node`: what needs Node's own modules. */

export type { FilesOptions, FilesResource } from './node/files.ts';
export { files } from './node/files.ts';
export { diskRoots, type RootGuard } from './node/disk-roots.ts';
