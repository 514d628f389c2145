/** Replaces web/src/engine/sequence/people.ts in the page of the tests: fewer people, in two calls (PART of run-sequence.ts). */
export const PEOPLE = { first: 20_000, count: 2000 };
