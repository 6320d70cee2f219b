// `npm run fuzz`: sends mutated messages of both eras to a server over stdio and in memory, before and after `initialize`, and
// counts that every readable id has exactly one answer, that nothing hangs and that nothing dies.
//
//   node robustness/fuzz.mjs [--count N] [--seed N] [--transport stdio|in-memory]
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createInMemoryPair } from '@mortise/jsonrpc-core';
import { makeLine } from './mutate.mjs';
import { createRandom } from './random.mjs';
import { createTarget } from './target.mjs';

const { values: options } = parseArgs({
  options: { count: { type: 'string', default: '50000' }, seed: { type: 'string' }, transport: { type: 'string' } },
});
const corpus = JSON.parse(readFileSync(new URL('./corpus.json', import.meta.url), 'utf8'));
const hangMs = 20_000;

/** A stdio connection: lines out, parsed answers in. */
function connectStdio(onAnswer) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./target-stdio.mjs', import.meta.url))], { stdio: ['pipe', 'pipe', 'inherit'] });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const line of lines) onAnswer(JSON.parse(line));
  });
  const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)));
  return {
    died: exited.then((code) => `the server exited with ${code}`),
    send: (text) => new Promise((resolve) => (child.stdin.write(`${text}\n`) ? resolve() : child.stdin.once('drain', resolve))),
    async close() {
      child.stdin.end();
      const code = await exited;
      if (code !== 0) throw new Error(`the server ended with ${code}, not 0`);
    },
  };
}

/** An in-memory connection. Text that is not JSON cannot exist here, so it is reported as a transport reports it. */
async function connectInMemory(onAnswer) {
  const [near, far] = createInMemoryPair();
  const server = createTarget();
  near.onmessage = onAnswer;
  await near.start();
  await server.connect(far);
  return {
    died: new Promise(() => undefined),
    async send(text) {
      let value;
      try {
        value = JSON.parse(text);
      } catch {
        return;
      }
      await near.send(value);
    },
    async close() {
      await near.close();
      await server.close();
    },
  };
}

/** Counts answers against what is owed. */
function createLedger() {
  const owed = new Map();
  const answers = new Map();
  const counts = { sent: 0, valid: 0, owed: 0, answered: 0, withoutId: 0 };
  return {
    counts,
    /** Notes what a value that is about to be sent is owed. Cancelled ids and open subscriptions may stay unanswered. */
    expect(value) {
      for (const message of Array.isArray(value) ? value : [value]) {
        if (typeof message !== 'object' || message === null) continue;
        if (message.method === 'notifications/cancelled' && !Object.hasOwn(message, 'id')) {
          const target = message.params?.requestId;
          if (owed.has(target)) owed.set(target, 'may');
        }
        const { id } = message;
        const isReadable = typeof id === 'string' || Number.isSafeInteger(id);
        if (!isReadable || Object.hasOwn(message, 'result') || Object.hasOwn(message, 'error')) continue;
        owed.set(id, message.method === 'subscriptions/listen' ? 'may' : (owed.get(id) ?? 'must'));
        counts.owed++;
      }
    },
    receive(value) {
      for (const message of Array.isArray(value) ? value : [value]) {
        if (Object.hasOwn(message, 'method')) continue;
        if (message.id === undefined || message.id === null) {
          counts.withoutId++;
          continue;
        }
        answers.set(message.id, (answers.get(message.id) ?? 0) + 1);
        counts.answered++;
      }
    },
    check() {
      const wrong = [];
      for (const [id, duty] of owed) {
        const count = answers.get(id) ?? 0;
        if (count > 1 || (duty === 'must' && count !== 1)) wrong.push(`${JSON.stringify(id)}: ${count} answers`);
      }
      for (const id of answers.keys()) if (!owed.has(id)) wrong.push(`${JSON.stringify(id)}: an answer to nothing`);
      owed.clear();
      answers.clear();
      return wrong;
    },
  };
}

/** Fuzzes one transport; throws with the seed on the first rule that breaks. */
export async function fuzz({ transport, count, seed, onProgress }) {
  const random = createRandom(seed);
  const ledger = createLedger();
  const perConnection = transport === 'stdio' ? 25_000 : 5_000;
  let nextId = 1;
  for (let sent = 0; sent < count; ) {
    const waiters = new Map();
    const onAnswer = (value) => {
      const waiter = waiters.get(value.id);
      if (waiter) {
        waiters.delete(value.id);
        waiter();
      } else ledger.receive(value);
    };
    const connection = await (transport === 'stdio' ? connectStdio(onAnswer) : connectInMemory(onAnswer));
    const barrier = async () => {
      const id = `barrier-${nextId++}`;
      const params = { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} } };
      const answered = new Promise((resolve) => waiters.set(id, () => resolve(undefined)));
      await connection.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'server/discover', params }));
      let timer;
      const hung = new Promise((resolve) => (timer = setTimeout(() => resolve(`no answer within ${hangMs} ms`), hangMs)));
      const fault = await Promise.race([answered, hung, connection.died]);
      clearTimeout(timer);
      if (fault) throw new Error(`${transport}, seed ${seed}, after ${sent} messages: ${fault}`);
    };
    const version = random.pick([...new Set(corpus.map((entry) => entry.version))]);
    const legacyFrom = random.below(perConnection / 2);
    const end = Math.min(count, sent + perConnection);
    for (let inConnection = 0; sent < end; inConnection++, sent++) {
      const entry = inConnection === legacyFrom ? corpus.find((one) => one.version === version && one.message.method === 'initialize') : undefined;
      const id = random.chance(0.5) ? nextId++ : `s${nextId++}`;
      const line = entry
        ? { text: JSON.stringify({ ...entry.message, id }), isValid: true, value: { ...entry.message, id } }
        : makeLine(random, random.pick(corpus).message, id);
      ledger.counts.sent++;
      if (line.isValid) ledger.counts.valid++;
      if (line.value !== undefined) ledger.expect(line.value);
      await connection.send(line.text);
      if (inConnection % 500 === 499) {
        await barrier();
        onProgress?.(sent);
      }
    }
    await barrier();
    await connection.close();
    const wrong = ledger.check();
    if (wrong.length > 0) throw new Error(`${transport}, seed ${seed}: ${wrong.length} ids without exactly one answer: ${wrong.slice(0, 10).join('; ')}`);
  }
  return ledger.counts;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seed = options.seed === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(options.seed);
  let unhandled = 0;
  process.on('unhandledRejection', (error) => {
    unhandled++;
    process.stderr.write(`unhandled rejection: ${error?.stack}\n`);
  });
  process.stdout.write(`seed ${seed}\n`);
  for (const transport of options.transport ? [options.transport] : ['in-memory', 'stdio']) {
    const startedAt = performance.now();
    const counts = await fuzz({
      transport,
      count: Number(options.count),
      seed,
      onProgress: (sent) => process.stderr.isTTY && process.stderr.write(`\r${transport}: ${sent}`),
    });
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(
      `${transport}: ${counts.sent} messages in ${seconds} s, ${((100 * counts.valid) / counts.sent).toFixed(1)} % valid JSON-RPC, ` +
        `${counts.owed} readable ids, ${counts.answered} answered, ${counts.withoutId} answers without an id, 0 crashes, 0 hangs, 0 ids without exactly one answer\n`,
    );
  }
  if (unhandled > 0) process.exitCode = 1;
}
