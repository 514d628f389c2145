/** Replaces web/src/engine/sequence/people.ts in the page of the tests: fewer people, scored in two parts. */
export const PEOPLE = { first: 20_000, count: 2000 };
