/** The people of the sequence editor. */

/** The seeds of the people who are played: the first seed and their number. No stored sequence was searched on these seeds. */
export const PEOPLE = { first: 20_000, count: 10_000 };
