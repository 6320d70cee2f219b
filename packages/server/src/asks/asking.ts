/** All that asking needs, loaded when something is first asked. See `load-asking.ts`. */

export { askClient } from './ask-client.ts';
export { askSession } from './ask-session.ts';
export { askForPages, sealByHand } from './by-hand.ts';
export { elicit } from './elicit.ts';
export { containsPath, listClientRoots } from './list-client-roots.ts';
export { openRound } from './open-round.ts';
export { requirePages, runByHand } from './session-by-hand.ts';
