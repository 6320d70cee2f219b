// What a gateway costs. Here the floor is a direct call, so that 0.5 is twice its CPU time.
const systems = Object.fromEntries(
  Object.entries({ floor: 'direct', 'ours, server in the gateway': 'near', 'ours, server behind HTTP': 'http' }).flatMap(([name, way]) => [
    [name, [way, 'legacy']],
    [`${name}, modern`, [way, 'modern']],
  ]),
);

/** @param {(file: string, args: readonly string[]) => number} programCpu Runs a program and gives its CPU microseconds a call. */
export const gatewayRows = (programCpu) => [
  {
    name: 'Cost: a call through the gateway takes at most twice the CPU of a direct call',
    unit: 'us/call',
    aim: 0.5,
    systems: Object.keys(systems),
    run: (name) => programCpu('ours/gateway.mjs', ['6000', ...systems[name]]),
  },
];
