/** Modules that a program may never need, loaded when they are first used. See docs/decisions/build.md. */

/**
 * Gives a function that uses a module: at once where it is loaded, so that what follows one another stays in its order and costs no turn.
 *
 * @param load An `import()`.
 */
/* @__NO_SIDE_EFFECTS__ */
export function onDemand<Module>(load: () => Promise<Module>): <T>(use: (module: Module) => T | Promise<T>) => T | Promise<T> {
  let loaded: Module | undefined;
  return (use) =>
    loaded
      ? use(loaded)
      : load().then((module) => {
          loaded = module;
          return use(module);
        });
}
