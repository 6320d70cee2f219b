/** `@mortise/client/node`: the parts of a client that need Node. */

export { type Folder, type FolderRoots, folderRoots, type FolderRootsOptions, type RootsListener } from './node/folder-roots.ts';
