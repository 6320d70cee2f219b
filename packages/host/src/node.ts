/** `@mortise/host/node`: keeps what was consented to in a file. */

export { lockFile } from './node/lock-file.ts';
