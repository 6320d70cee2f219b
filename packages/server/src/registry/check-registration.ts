/** Checks how a registration is called, for programs that no compiler checks. */

import { RegistrationError } from '../errors.ts';
import { isRawShape } from '../schema/raw-shape.ts';
import { isStandardSchema } from '../schema/standard-schema.ts';

/** What is registered, and how. */
const CALLS = {
  tool: { call: 'registerTool(name, config, handler)', schema: 'inputSchema' },
  prompt: { call: 'registerPrompt(name, config, handler)', schema: 'argsSchema' },
  resource: { call: 'registerResource(name, uri, config, read)', schema: undefined },
} as const;

/** @throws {RegistrationError} `ERR_REGISTRATION`: a parameter is missing, or stands where another belongs. */
export function checkRegistration(kind: keyof typeof CALLS, name: unknown, config: unknown, handler: unknown): void {
  const { call, schema } = CALLS[kind];
  checkRegisteredName(kind, name);
  const owner = `${kind} "${String(name)}"`;
  if (typeof config !== 'object' || config === null) {
    const got =
      typeof config === 'function' ? 'a function where the config belongs' : `no config but ${config === null ? 'null' : typeof config}`;
    throw new RegistrationError(`${owner}: ${call} was given ${got}: a config may be empty, {}`);
  }
  if (schema !== undefined && isSchema(config))
    throw new RegistrationError(`${owner}: ${call} was given a schema where the config belongs: write { ${schema}: ... }`);
  if (typeof handler !== 'function')
    throw new RegistrationError(
      `${owner}: ${call} was given no function as its last parameter, got ${handler === null ? 'null' : typeof handler}`,
    );
}

/** @throws {RegistrationError} `ERR_REGISTRATION`: not a string, or an empty one. */
export function checkRegisteredName(kind: keyof typeof CALLS, name: unknown): void {
  if (typeof name !== 'string' || name === '')
    throw new RegistrationError(`A ${kind} needs a name: a string that is not empty, got ${name === '' ? 'an empty one' : typeof name}`);
}

function isSchema(config: object): boolean {
  if (isStandardSchema(config)) return true;
  const names = Object.keys(config);
  return names.length > 0 && !names.some((name) => name.endsWith('Schema')) && isRawShape(config);
}
