/** The ids that the program's `generateSessionId` makes. */

import { HttpOptionError } from '../errors.ts';

/** @throws {HttpOptionError} `ERR_HTTP_OPTION`: no header can carry the id. */
export function checkSessionId(id: string): string {
  if (/^[\x21-\x7e]+$/.test(id)) return id;
  throw new HttpOptionError('The option "generateSessionId" must give visible ASCII characters alone: no header can carry others');
}

/** The error of an id that is in use: requests must go on reaching who has it. */
export function takenIdError(): HttpOptionError {
  return new HttpOptionError('The option "generateSessionId" gave an id that a session has already');
}
