/** Checks of a client's answers to a server's requests. The server checks answers it receives, the client those of its own handlers. */

import {
  anyObject,
  array,
  byMethod,
  type Check,
  type Members,
  type MethodCheck,
  object,
  oneOf,
  oneOrMany,
  record,
  string,
} from './check.ts';
import { role, samplingBlock, strings, task } from './shapes.ts';

/** Checks one value that the user entered in a form: a string, number, boolean or array of strings. */
const answer: Check = (value) => {
  if (typeof value === 'object') return strings(value);
  return typeof value === 'number' || typeof value === 'boolean' ? undefined : string(value);
};

const results: Members = {
  'elicitation/create': object({ action: oneOf(['accept', 'decline', 'cancel']), 'content?': record(answer), '_meta?': anyObject }),
  'sampling/createMessage': object({
    role,
    content: oneOrMany(samplingBlock),
    model: string,
    'stopReason?': string,
    '_meta?': anyObject,
  }),
  'roots/list': object({ roots: array(object({ uri: string, 'name?': string, '_meta?': anyObject })), '_meta?': anyObject }),
  'tasks/get': object(task),
  'tasks/cancel': object(task),
};

/** Checks the result that a client sends for `elicitation/create`, `sampling/createMessage`, `roots/list` or a task request. */
export const checkClientResult: MethodCheck = byMethod('result', anyObject, results);
