/** Authorizers and stores of task ids that break one promise each, which their kits must fail by its id. */

import type { Authorizer, TaskHandleRecord, TaskHandleStore } from '@mortise/protocol/contracts';
import { runCases } from '@mortise/transport-testkit';
import { authorizerCases, type AuthorizerSubject } from '@mortise/transport-testkit/authorizer';
import { taskHandleStoreCases } from '@mortise/transport-testkit/task-handle-store';
import { describeKit } from '@mortise/transport-testkit/vitest';
import { describe, expect, it } from 'vitest';

const close = async (): Promise<void> => undefined;

/** Signs in by counting. */
class SmallAuthorizer implements Authorizer {
  token: string | undefined;
  signIns = 0;
  signingIn: Promise<void> | undefined;
  failures = 0;

  async headers(): Promise<Readonly<Record<string, string>>> {
    return this.token === undefined ? {} : { authorization: `Bearer ${this.token}` };
  }

  async onChallenge(): Promise<'retry' | 'fail'> {
    if (this.token !== undefined) return 'fail';
    this.signingIn ??= this.signIn();
    await this.signingIn;
    return 'retry';
  }

  async signIn(): Promise<void> {
    this.signIns++;
    await new Promise((resolve) => setImmediate(resolve));
    this.token = `token ${this.signIns}`;
  }
}

function toSubject(authorizer: SmallAuthorizer): AuthorizerSubject {
  let refusesAll = false;
  const url = 'https://server.example/mcp';
  return {
    authorizer,
    request: { method: 'POST', url },
    async ask(given, attempt) {
      if (given['authorization'] !== undefined && !refusesAll) return undefined;
      return { status: 401, url, attempt, given, header: () => undefined };
    },
    signIns: () => authorizer.signIns,
    refuseAll: () => {
      refusesAll = true;
    },
    close,
  };
}

describeKit('a small authorizer', authorizerCases, { create: async () => toSubject(new SmallAuthorizer()) });

class Splitting extends SmallAuthorizer {
  override async headers(): Promise<Readonly<Record<string, string>>> {
    return { 'x-client': 'a\r\nb' };
  }
}
class AlwaysAsking extends SmallAuthorizer {
  override async headers(): Promise<Readonly<Record<string, string>>> {
    if (this.token !== undefined) await this.signIn();
    return super.headers();
  }
}
class Unchanging extends SmallAuthorizer {
  override async onChallenge(): Promise<'retry' | 'fail'> {
    return 'retry';
  }
}
class Endless extends SmallAuthorizer {
  override async onChallenge(): Promise<'retry' | 'fail'> {
    await this.signIn();
    return 'retry';
  }
}
class Unsharing extends SmallAuthorizer {
  override async onChallenge(): Promise<'retry' | 'fail'> {
    await this.signIn();
    return this.failures++ > 20 ? 'fail' : 'retry';
  }
}

describe('the kit of Authorizer fails', () => {
  it.each([
    { id: 'A1.1', what: 'headers that end a line', create: () => new Splitting() },
    { id: 'A1.2', what: 'a sign-in for each request', create: () => new AlwaysAsking() },
    { id: 'A2.1', what: '"retry" with nothing changed', create: () => new Unchanging() },
    { id: 'A2.2', what: 'what goes on for ever', create: () => new Endless() },
    { id: 'A3.1', what: 'a sign-in for each call at once', create: () => new Unsharing() },
  ])('$what, by $id', async ({ id, create }) => {
    const results = await runCases(authorizerCases, { create: async () => toSubject(create()) });
    expect(results.filter(({ outcome }) => outcome === 'failed').map((result) => result.id)).toContain(id);
  });
});

/** Keeps a list. */
class SmallHandleStore implements TaskHandleStore {
  records: TaskHandleRecord[] = [];

  async add(handle: TaskHandleRecord): Promise<void> {
    await this.remove(handle.server, handle.taskId);
    this.records.push(handle);
  }

  async remove(server: string, taskId: string): Promise<void> {
    this.records = this.records.filter((record) => record.server !== server || record.taskId !== taskId);
  }

  async list(server: string): Promise<readonly TaskHandleRecord[]> {
    return this.records.filter((record) => record.server === server);
  }
}

describeKit('a small store of task ids', taskHandleStoreCases, { create: async () => ({ store: new SmallHandleStore(), close }) });

class Mixing extends SmallHandleStore {
  override async list(): Promise<readonly TaskHandleRecord[]> {
    return this.records;
  }
}
class Doubling extends SmallHandleStore {
  override async add(handle: TaskHandleRecord): Promise<void> {
    this.records.push(handle);
  }
}
class Racing extends SmallHandleStore {
  override async add(handle: TaskHandleRecord): Promise<void> {
    const before = this.records;
    await new Promise((resolve) => setImmediate(resolve));
    this.records = [...before.filter(({ server, taskId }) => server !== handle.server || taskId !== handle.taskId), handle];
  }
}
class Greedy extends SmallHandleStore {
  override async remove(server: string): Promise<void> {
    this.records = this.records.filter((record) => record.server !== server);
  }
}

describe('the kit of TaskHandleStore fails', () => {
  it.each([
    { id: 'H1.1', what: 'what mixes servers', create: () => new Mixing() },
    { id: 'H2.1', what: 'what keeps a task twice', create: () => new Doubling() },
    { id: 'H2.2', what: 'what loses some of many at once', create: () => new Racing() },
    { id: 'H3.1', what: 'what removes too much', create: () => new Greedy() },
  ])('$what, by $id', async ({ id, create }) => {
    const results = await runCases(taskHandleStoreCases, { create: async () => ({ store: create(), close }) });
    expect(results.filter(({ outcome }) => outcome === 'failed').map((result) => result.id)).toContain(id);
  });
});
