/**
 * Short trainings: TrainOptions (src/training/student/train-options.ts) with fewer episodes and rounds than by default. Chosen
 * by hand, for a training of about half a minute.
 */
export const SCHEDULES = {
  /** The planner's stored episodes teach (planner-episodes.ts), from the first on. */
  stored: { episodes: 3000, rounds: 0, epochs: 8 },
  /** The teacher plays. */
  played: { episodes: 480, rounds: 1, roundEpisodes: 160, epochs: 30 },
};
