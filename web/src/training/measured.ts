/**
 * The seeds of the episodes in which students are measured: the first seed, and how many. Training and, by default, `eval` use
 * other seeds. The count is chosen by hand: more episodes give a more exact score and take longer.
 */
export const MEASURED = { first: 20_000, count: 128 };
