/**
 * Replaces web/src/engine/sequence/people.ts in the page of the tests: fewer people. Without a GPU, run-sequence.ts plays them
 * in two calls, of 1000 people each.
 */
export const PEOPLE = { first: 20_000, count: 2000 };
