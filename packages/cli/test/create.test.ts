import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { run } from './run.ts';

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mortise-create-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** That the projects install, compile, test and run is shown in `scripts/test/release.built.test.ts`, where a registry has our packages. */
describe('mortise create', () => {
  it("writes a project with the folder's name", async () => {
    const cwd = createFolder();
    const { code, out } = await run(['create', 'My Server!', '--kind', 'http-server'], { cwd });
    expect(code).toBe(0);
    expect(out).toContain('npm install');
    const manifest = JSON.parse(readFileSync(join(cwd, 'My Server!', 'package.json'), 'utf8')) as {
      name: string;
      scripts: { start: string };
    };
    expect(manifest).toMatchObject({ name: 'my-server', scripts: { start: 'mortise run src/server.ts --http --port 3000' } });
    expect(readFileSync(join(cwd, 'My Server!', 'src', 'server.ts'), 'utf8')).toContain("{ name: 'my-server', version");
  });

  it('writes nothing into a folder that has something', async () => {
    const cwd = createFolder();
    mkdirSync(join(cwd, 'mine'));
    writeFileSync(join(cwd, 'mine', 'work.txt'), 'mine');
    const { code, err } = await run(['create', 'mine'], { cwd });
    expect({ code, has: existsSync(join(cwd, 'mine', 'package.json')) }).toEqual({ code: 2, has: false });
    expect(err).toContain('already exists and is not empty');
  });

  it('names the kinds that there are', async () => {
    expect((await run(['create', 'x', '--kind', 'toaster'], { cwd: createFolder() })).err).toContain(
      'Allowed choices are server, http-server, client, host',
    );
  });
});
