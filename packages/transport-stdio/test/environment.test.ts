import { getDefaultEnvironment, INHERITED_VARIABLES } from '@mortise/transport-stdio/client';
import { expect, it } from 'vitest';

it('chooses what is on the list and set', () => {
  expect(getDefaultEnvironment({ PATH: '/bin', LANG: '', SECRET: 'x', HOME: undefined })).toEqual({ PATH: '/bin', LANG: '' });
});

it('leaves out functions that a shell exported', () => {
  expect(getDefaultEnvironment({ TERM: '() { :;}; echo injected', USER: 'ada' })).toEqual({ USER: 'ada' });
});

it('lists nothing that is named after a secret', () => {
  const names = Object.values(INHERITED_VARIABLES).flat();
  expect(names.filter((name) => /KEY|TOKEN|SECRET|PASS|AUTH|CREDENTIAL|PROXY|NODE_OPTIONS|LD_|DYLD_/.test(name))).toEqual([]);
});
