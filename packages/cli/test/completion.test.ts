import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { run } from './run.ts';

async function complete(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await run(['completion', 'bash']);
  const ask = `COMP_WORDS=(mortise ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _mortise; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', `${out}\n${ask}`], { encoding: 'utf8' })
    .trim()
    .split('\n');
}

describe.skipIf(process.platform === 'win32')('mortise completion', () => {
  it('completes commands and their options in bash', async () => {
    expect(await complete('ins')).toEqual(['inspector', 'inspect', 'install']);
    expect(await complete('doctor', 'server.js', '--f')).toEqual(['--fix-list']);
  });

  it('describes them in fish, and names the shells that there are', async () => {
    expect((await run(['completion', 'fish'])).out).toContain(
      "complete -c mortise -n '__fish_seen_subcommand_from bench' -l duration -d 'how long to measure'",
    );
    expect((await run(['completion', 'csh'])).err).toContain('Allowed choices are bash, zsh, fish');
  });
});
