/** `/experimental`: the same as `/experimental/tasks`. */

export * from './tasks/index.ts';
