/**
 * A short training: TrainOptions (src/training/student/train-options.ts) with fewer episodes and rounds than by default. Chosen
 * by hand, for a training of about half a minute.
 */
export const SCHEDULE = { episodes: 480, rounds: 1, roundEpisodes: 160, epochs: 30 };
