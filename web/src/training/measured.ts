/** The episodes in which students are measured: their seeds are none of the training's. */
export const MEASURED = { first: 20_000, count: 128 };
