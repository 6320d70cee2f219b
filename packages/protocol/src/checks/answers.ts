/** Checks of what clients answer to questions of the server. Both sides run them: the client on what its own program answers. */

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

/** The value of a form's field. */
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

/** Checks a client's answer to a question of the server: `elicitation/create`, `sampling/createMessage`, `roots/list`, tasks. */
export const checkClientResult: MethodCheck = byMethod('result', anyObject, results);
