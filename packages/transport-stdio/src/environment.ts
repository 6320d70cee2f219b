/** What a server's process inherits of this one's environment: what programs need to run, and nothing that may be secret. */

/** The variables that are passed on by default, by platform. */
export const INHERITED_VARIABLES: Readonly<Record<'posix' | 'windows', readonly string[]>> = {
  posix: ['HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER'],
  windows: [
    'APPDATA',
    'COMSPEC',
    'HOMEDRIVE',
    'HOMEPATH',
    'LOCALAPPDATA',
    'PATH',
    'PATHEXT',
    'PROCESSOR_ARCHITECTURE',
    'PROGRAMDATA',
    'PROGRAMFILES',
    'PROGRAMFILES(X86)',
    'SYSTEMDRIVE',
    'SYSTEMROOT',
    'TEMP',
    'TMP',
    'USERNAME',
    'USERPROFILE',
    'WINDIR',
  ],
};

/**
 * Gives the part of this process's environment that a server's process is started with: `INHERITED_VARIABLES`, as far as they
 * are set. Functions that a shell exported are left out.
 *
 * @param environment What to choose from. @default process.env
 */
export function getDefaultEnvironment(environment: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const chosen: Record<string, string> = {};
  for (const name of INHERITED_VARIABLES[process.platform === 'win32' ? 'windows' : 'posix']) {
    const value = environment[name];
    if (value !== undefined && !value.startsWith('()')) chosen[name] = value;
  }
  return chosen;
}
