/**
 * Replaces web/src/engine/sequence/people.ts in the page of the tests: fewer people, whom run-sequence.ts plays in two calls
 * (`PART.others`).
 */
export const PEOPLE = { first: 20_000, count: 2000 };
