/** `@mortise/server/node`: what needs Node's own modules. */

export { files, type FilesOptions } from './node/files.ts';
export { diskRoots, type RootGuard } from './node/disk-roots.ts';
