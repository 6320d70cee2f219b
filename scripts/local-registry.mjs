/** A registry on loopback (Verdaccio) that has every package of ours as a release would publish it, and folders that install from it by name. */

import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installTool } from './install-tool.mjs';
import { runCommand } from './run-command.mjs';
import { runPnpm } from './set-up.mjs';

/**
 * Starts the registry and publishes all packages to it; they must have been built.
 *
 * @returns {Promise<{ install: (names: readonly string[]) => Promise<Installed>, makeFolder: () => string, close: () => Promise<void> }>}
 *   `install` makes an empty folder and installs packages in it by their names, ours from this registry, others from the usual one;
 *   `makeFolder` makes a folder in which `npm install` does the same.
 * @typedef {{ folder: string, names: string[], bytes: number, sourceBytes: number }} Installed
 *   All below node_modules; `sourceBytes`: what of `bytes` is for debuggers alone, `src` and source maps of ours.
 */
export async function openRegistry() {
  const home = mkdtempSync(join(tmpdir(), 'mortise-registry-'));
  const { runServer } = createRequire(import.meta.url)(join(await installTool('verdaccio'), 'verdaccio'));
  const everybody = { access: '$all', publish: '$all' };
  const server = await runServer({
    self_path: home,
    storage: join(home, 'storage'),
    auth: { htpasswd: { file: join(home, 'htpasswd'), max_users: -1 } },
    uplinks: {},
    packages: { '@mortise/*': everybody },
    log: { type: 'stdout', level: 'error' },
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${server.address().port}`;
  // Anybody may publish here, but npm does not even try without a token.
  const npmrc = `@mortise:registry=http://${host}/\n//${host}/:_authToken=anybody\n`;
  writeFileSync(join(home, '.npmrc'), npmrc);

  const close = async () => {
    server.closeAllConnections();
    server.close();
    rmSync(home, { recursive: true, force: true });
  };
  const publish = ['--recursive', '--filter', './packages/*', 'publish', '--no-git-checks', '--tag', 'latest'];
  const { code, output } = await runPnpm([...publish, '--registry', `http://${host}/`], {
    env: { npm_config_userconfig: join(home, '.npmrc') },
  });
  if (code !== 0) throw new Error(`pnpm publish failed:\n${output}`);

  const makeFolder = () => {
    const folder = mkdtempSync(join(home, 'install-'));
    writeFileSync(join(folder, '.npmrc'), npmrc);
    return folder;
  };
  const install = async (names) => {
    const folder = makeFolder();
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const flags = ['--no-audit', '--no-fund', '--no-update-notifier', '--no-package-lock', '--omit=dev', '--prefer-offline'];
    const { code, output } = await runCommand('npm', ['install', ...flags, ...names], { cwd: folder });
    if (code !== 0) throw new Error(`npm install ${names.join(' ')} failed:\n${output}`);
    const files = readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' });
    const sizes = files.map((file) => ({ file, info: statSync(join(folder, 'node_modules', file)) })).filter(({ info }) => info.isFile());
    const sum = (chosen) => chosen.reduce((total, { info }) => total + info.size, 0);
    return {
      folder,
      names: files
        .map((file) => /^(?:.*\/node_modules\/)?((?:@[^/]+\/)?[^@./][^/]*)\/package\.json$/.exec(file)?.[1])
        .filter((name) => name !== undefined),
      bytes: sum(sizes),
      sourceBytes: sum(sizes.filter(({ file }) => /^@mortise\/[^/]+\/(?:src\/|.*\.map$)/.test(file))),
    };
  };
  return { install, makeFolder, close };
}
