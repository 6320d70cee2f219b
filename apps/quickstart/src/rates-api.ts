/**
 * A small HTTP API on the loopback interface, standing in for the services that real tools call: it tells what one unit of a
 * currency is worth in another. The figures are made up and never change.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const worthInEuro: Readonly<Record<string, number>> = { EUR: 1, USD: 0.8, GBP: 1.2, JPY: 0.006, CHF: 1.05 };

/** The currencies that the API knows. */
export const currencies: readonly string[] = Object.keys(worthInEuro);

/** A running API. */
export interface RatesApi {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts the API on a free port of 127.0.0.1. It does not keep the process alive. */
export async function startRatesApi(): Promise<RatesApi> {
  const http = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const from = worthInEuro[searchParams.get('from') ?? ''];
    const to = worthInEuro[searchParams.get('to') ?? ''];
    const body = from === undefined || to === undefined ? { error: 'unknown currency' } : { rate: Number((from / to).toPrecision(6)) };
    response.writeHead('error' in body ? 404 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  http.unref();
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(0, '127.0.0.1', resolve);
  });
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
