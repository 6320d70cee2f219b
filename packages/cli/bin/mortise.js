#!/usr/bin/env node
import { runCli } from '../dist/index.js';

process.exitCode = await runCli(process.argv.slice(2));
// What a served file left behind, such as a timer, must not keep the process.
if (process.argv[2] === 'run') setTimeout(() => process.exit(), 500).unref();
