/** The seeds of the episodes in which students are measured: the first seed, and how many. Training uses other seeds. */
export const MEASURED = { first: 20_000, count: 128 };
