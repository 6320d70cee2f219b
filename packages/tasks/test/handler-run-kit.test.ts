/** The runs of handlers in a task, the engine's own and what the server's handlers see of them, by the kit of their contract. */

import type { JsonObject, JsonRpcNotification } from '@mortise/jsonrpc-core';
import type { Ask, ExtensionHost, HandlerRun, TaskRecord, ToolCallRecord } from '@mortise/protocol/contracts';
import { McpServer } from '@mortise/server';
import { MemoryTaskStore } from '@mortise/tasks';
import { handlerRunCases, type HandlerRunSubject } from '@mortise/transport-testkit/handler-run';
import { describeKit } from '@mortise/transport-testkit/vitest';
import type { TaskEngine } from '../src/engine/task-engine.ts';
import type { TaskRun } from '../src/engine/task-run.ts';
import { type GivenAnswer, isOutstanding, type TaskOutcome } from '../src/engine/task-states.ts';
import { createEngine } from './support/create-engine.ts';

const STEP = 'notifications/step';
const DONE: TaskOutcome = { status: 'completed', result: { content: [] } };
const answerTo = (text: string): JsonObject => ({ action: 'accept', content: { name: text } });

function question(text: string): Ask {
  const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
  return { method: 'elicitation/create', params: { message: text, requestedSchema } };
}

type Handler = (run: HandlerRun) => Promise<void>;

/** @param runHandler Gives the handler its run, which stands on that of the engine. */
function createSubject(runHandler: (handler: Handler, run: TaskRun) => Promise<void>): HandlerRunSubject {
  const reported: JsonRpcNotification[] = [];
  let handler: Handler = async () => undefined;
  const engine: TaskEngine = createEngine({
    store: new MemoryTaskStore(),
    run: async (_record, run) => {
      await runHandler(handler, run);
      return DONE;
    },
    onReport: (_run, notification) => void reported.push(notification),
  });
  engine.start();
  /** Answers whatever is asked meanwhile. */
  const answer = (task: TaskRecord): void => {
    const answers = task.asks.filter(isOutstanding).map(({ key, params }): [string, GivenAnswer] => {
      const text = String(params['message']);
      return [key, text === 'refused' ? { error: { code: -32_000, message: 'No' } } : { answer: answerTo(text) }];
    });
    if (answers.length > 0) void engine.answer(task, new Map(answers));
  };
  return {
    async call(work) {
      handler = work;
      await engine.waitFor(await engine.create({ principal: 'kit', generation: 'kit' }), answer);
    },
    question,
    answerTo,
    refused: () => question('refused'),
    notification: (step) => ({ jsonrpc: '2.0', method: STEP, params: { step } }),
    told: () => reported.map(({ params }) => Number((params as JsonObject)['step'])),
    close: () => engine.close(),
  };
}

/** A server whose tools run from records, by the run that they are handed. */
function createRecordedSubject(): HandlerRunSubject {
  let host: ExtensionHost | undefined;
  let handler: Handler = async () => undefined;
  const server = new McpServer(
    { name: 'kit', version: '1.0.0' },
    { extensions: [{ id: 'com.example/kit', settings: {}, install: (given) => void (host = given) }] },
  );
  server.registerTool('run', {}, async (ctx) => {
    await handler(ctx.run);
    return 'done';
  });
  const record: ToolCallRecord = {
    tool: 'run',
    arguments: {},
    principal: 'kit',
    revision: '2025-11-25',
    clientCapabilities: { elicitation: { form: {} } },
    scopes: [],
  };
  const subject = createSubject(async (work, run) => {
    handler = work;
    await host?.runTool(record, run);
  });
  return { ...subject, close: async () => void (await Promise.all([subject.close(), server.close()])) };
}

describeKit('the run of a task', handlerRunCases, { create: async () => createSubject((handler, run) => handler(run)) });
describeKit('what a handler sees of the run of a task', handlerRunCases, { create: async () => createRecordedSubject() });
