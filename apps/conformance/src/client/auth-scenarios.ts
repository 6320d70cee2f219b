/** The scenarios of authorization: each signs in, lists the tools and calls the protected one. */

import { importPKCS8 } from 'jose';
import {
  clientCredentials,
  clientCredentialsExtension,
  enterpriseManaged,
  enterpriseManagedExtension,
  findAuthorization,
  oauth,
  type OAuthAuthorizer,
  type OAuthOptions,
  redirectSignIn,
  workloadIdentity,
} from '@mortise/auth-oauth/client';
import { checkedFetch } from '@mortise/auth-oauth/node';
import type { ClientExtension } from '@mortise/protocol/contracts';
import { z } from 'zod';
import { type Scenario, type ScenarioInput, withClient } from './scenario.ts';

/** Plays the person: visits the authorization page, which agrees at once, and reads where it sends the browser. */
const signIn = redirectSignIn({
  redirectUrl: 'http://127.0.0.1:3118/callback',
  authorize: async (url) => {
    const answer = await fetch(url, { redirect: 'manual' });
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`The authorization page answered ${answer.status} without sending the browser on`);
    return location;
  },
});

/** The suite starts all its clients at once: on a small machine each waits for the others, and has 30 seconds. */
const patience = (url: string) => ({ fetch: checkedFetch(url), timeoutMs: 25_000 });

function withAuthorizer(
  toAuthorizer: (input: ScenarioInput) => OAuthAuthorizer | Promise<OAuthAuthorizer>,
  extensions: readonly ClientExtension[] = [],
): Scenario {
  return async (input) => {
    const authorizer = await toAuthorizer(input);
    const use = withClient(
      async (client) => {
        await client.listTools();
        await client.callTool('test-tool');
      },
      { transport: () => ({ authorizer }), extensions },
    );
    await use(input);
  };
}

function asPerson(options: OAuthOptions = {}): Scenario {
  return withAuthorizer(({ url }) => oauth(url, { signIn, clientName: 'mortise-conformance', ...patience(url), ...options }));
}

/** Credentials belong to an issuer, which the suite does not tell: the server's metadata names it. */
async function findIssuer(url: string): Promise<string> {
  const { issuer } = await findAuthorization(url, patience(url));
  return issuer;
}

const secretContext = z.object({ client_id: z.string(), client_secret: z.string() });
const keyContext = z.object({ client_id: z.string(), private_key_pem: z.string(), signing_algorithm: z.string() });
const workloadContext = z.object({ valid_jwt: z.string() });
const enterpriseContext = z.object({
  client_id: z.string(),
  client_secret: z.string(),
  idp_client_id: z.string(),
  idp_id_token: z.string(),
  idp_token_endpoint: z.string(),
});

const preRegistered = withAuthorizer(async ({ url, context }) => {
  const { client_id: clientId, client_secret: clientSecret } = secretContext.parse(context);
  return oauth(url, { signIn, ...patience(url), clients: [{ issuer: await findIssuer(url), clientId, clientSecret }] });
});

const withSecret = withAuthorizer(
  async ({ url, context }) => {
    const { client_id: clientId, client_secret: clientSecret } = secretContext.parse(context);
    return clientCredentials(url, { client: { issuer: await findIssuer(url), clientId, clientSecret }, ...patience(url) });
  },
  [clientCredentialsExtension],
);

const withKey = withAuthorizer(
  async ({ url, context }) => {
    const { client_id: clientId, private_key_pem: pem, signing_algorithm: algorithm } = keyContext.parse(context);
    const privateKey = { key: await importPKCS8(pem, algorithm) };
    return clientCredentials(url, { client: { issuer: await findIssuer(url), clientId, privateKey }, ...patience(url) });
  },
  [clientCredentialsExtension],
);

const enterprise = withAuthorizer(
  async ({ url, context }) => {
    const given = enterpriseContext.parse(context);
    return enterpriseManaged(url, {
      client: { issuer: await findIssuer(url), clientId: given.client_id, clientSecret: given.client_secret },
      identityProvider: { tokenEndpoint: given.idp_token_endpoint, clientId: given.idp_client_id },
      identity: async () => ({ token: given.idp_id_token }),
      ...patience(url),
    });
  },
  [enterpriseManagedExtension],
);

const workload = withAuthorizer(async ({ url, context }) => {
  const { valid_jwt: jwt } = workloadContext.parse(context);
  return workloadIdentity(url, { issuer: await findIssuer(url), assertion: async () => jwt, ...patience(url) });
});

const plain = [
  'metadata-default',
  'metadata-var1',
  'metadata-var2',
  'metadata-var3',
  'scope-from-www-authenticate',
  'scope-from-scopes-supported',
  'scope-omitted-when-undefined',
  'scope-step-up',
  'scope-retry-limit',
  'token-endpoint-auth-basic',
  'token-endpoint-auth-post',
  'token-endpoint-auth-none',
  'resource-mismatch',
  'offline-access-scope',
  'offline-access-not-supported',
  'authorization-server-migration',
  'iss-supported',
  'iss-not-advertised',
  'iss-supported-missing',
  'iss-wrong-issuer',
  'iss-unexpected',
  'iss-normalized',
  'metadata-issuer-mismatch',
];

export const authScenarios: Readonly<Record<string, Scenario>> = {
  ...Object.fromEntries(plain.map((name) => [`auth/${name}`, asPerson()])),
  'auth/basic-cimd': asPerson({ clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' }),
  'auth/2025-03-26-oauth-metadata-backcompat': asPerson({ assumesOwnServer: true }),
  'auth/2025-03-26-oauth-endpoint-fallback': asPerson({ assumesOwnServer: true }),
  'auth/pre-registration': preRegistered,
  'auth/client-credentials-basic': withSecret,
  'auth/client-credentials-jwt': withKey,
  'auth/enterprise-managed-authorization': enterprise,
  'auth/cross-app-access-complete-flow': enterprise,
  'auth/dpop': asPerson({ dpop: true }),
  'auth/dpop-nonce': asPerson({ dpop: true }),
  'auth/wif-jwt-bearer': workload,
};
