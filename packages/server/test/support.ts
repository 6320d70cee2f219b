/** Servers for tests. */

import { z } from 'zod';
import type { Logger, LogLevel } from '@mortise/jsonrpc-core';
import { McpServer, type McpServerOptions } from '@mortise/server';

/** A promise with its handles. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

export function defer<T = void>(): Deferred<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Keeps what was logged. */
export class MemoryLogger implements Logger {
  readonly lines: { readonly level: LogLevel; readonly message: string; readonly data: Readonly<Record<string, unknown>> | undefined }[] =
    [];

  log(level: LogLevel, message: string, data?: Readonly<Record<string, unknown>>): void {
    this.lines.push({ level, message, data });
  }
}

/** One tool that adds, checked on both sides. */
export function createCalculator(options: McpServerOptions = {}): McpServer {
  const server = new McpServer({ name: 'calculator', version: '1.0.0' }, options);
  server.registerTool(
    'add',
    {
      title: 'Addition',
      description: 'Adds two numbers',
      inputSchema: { a: z.number(), b: z.number() },
      outputSchema: { sum: z.number() },
    },
    ({ a, b }) => ({ structuredContent: { sum: a + b } }),
  );
  return server;
}
