/** The training of a student on the page: its request, and what the worker reports. */

/** The planner, whose episodes are stored: in a browser it plays one in seconds. The others play in the browser. */
export const TEACHERS = ['planner', 'open-loop+inference', 'heuristic+inference'] as const;

export interface TrainingRequest {
  readonly teacher: (typeof TEACHERS)[number];
  /** A name of GRADER_NAMES. */
  readonly grader: string;
  /** u32: the seed of the initial parameters, of the choice of episodes and of their order. */
  readonly seed: number;
}

/** How a policy plays the measured episodes (MEASURED in sizes.ts), on average. */
export interface Measurement {
  readonly finalScore: number;
  readonly beliefMae: number;
  /** Mean reward of each half, without noise. */
  readonly firstHalfMean: number;
  readonly secondHalfMean: number;
  /** The share of each action, by ACTION_NAMES. */
  readonly actionShares: readonly number[];
  /** [28]: the actions of the first measured episode. */
  readonly week: readonly number[];
}

/** The student at one time of its training. */
export interface TrainingPoint extends Measurement {
  /** Seconds since the start. */
  readonly seconds: number;
  /** Whether the student has completed an epoch of training. */
  readonly isTrained: boolean;
}

/** What the worker sends while it trains. */
export interface TrainingReport {
  readonly teacher?: Measurement;
  /** A further point. */
  readonly point?: TrainingPoint;
  readonly progress?: TrainingProgress;
}

export interface TrainingProgress {
  readonly stage: string;
  readonly done: number;
  readonly total: number;
}
