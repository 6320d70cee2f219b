import { MemoryCredentialStore } from '@mortise/auth-oauth/client';
import { credentialStoreCases } from '@mortise/transport-testkit/credential-store';
import { describeKit } from '@mortise/transport-testkit/vitest';

describeKit('the memory credential store', credentialStoreCases, {
  create: async () => ({ store: new MemoryCredentialStore(), close: async () => undefined }),
  traits: { locks: true },
});
