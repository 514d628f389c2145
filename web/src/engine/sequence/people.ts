/** The people of the sequence editor. */

/** The first seed of the people, and their number, chosen by hand. No stored sequence was searched on these seeds. */
export const PEOPLE = { first: 20_000, count: 10_000 };
