/** `/client/stdio`: starts a server and talks to it over its standard input and output. */

import { INHERITED_VARIABLES, StdioClientTransport as Stdio } from '@mortise/transport-stdio/client';

export { getDefaultEnvironment } from '@mortise/transport-stdio/client';

export type StdioServerParameters = {
  command: string;
  args?: string[];
  /** Added to `getDefaultEnvironment()`. */
  env?: Record<string, string>;
  /** What becomes of the server's standard error. @default 'inherit' */
  stderr?: 'inherit' | 'pipe' | 'ignore' | 'overlapped';
  cwd?: string;
  /** The longest message in bytes. @default 10 MiB */
  maxBufferSize?: number;
};

/** The variables that a server inherits. */
export const DEFAULT_INHERITED_ENV_VARS: string[] = [...INHERITED_VARIABLES[process.platform === 'win32' ? 'windows' : 'posix']];

/** v1's client transport for a child process. */
export class StdioClientTransport extends Stdio {
  constructor({ stderr, maxBufferSize, ...server }: StdioServerParameters) {
    super({ ...server, stderr: stderr === 'overlapped' ? 'pipe' : stderr, maxMessageBytes: maxBufferSize });
  }
}
