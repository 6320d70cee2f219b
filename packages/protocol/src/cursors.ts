/** `@mortise/protocol/cursors`: cursors of lists. An entry of its own, so that a server without a second page does not load it. */

export { createCursorCodec, type CursorCodec } from './cursor.ts';
