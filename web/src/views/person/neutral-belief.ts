/** The belief before the user changes it. */
export const NEUTRAL_BELIEF: readonly number[] = [0.5, 0.5, 0.5];
