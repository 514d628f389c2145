/** Plays episodes with a planner and a small search budget. */
import { createVecEnv, Planner, type PlannerOptions, type StepResult } from '../../src/index.js';

/** A smaller search budget than the default, chosen by hand: less search is faster, and plays worse. */
export const SMALL = { posteriorSamples: 16, candidates: 16, rounds: 4 } as const;

export const seedsFrom = (first: number, count: number): Uint32Array =>
  Uint32Array.from({ length: count }, (_, i) => first + i);

export interface PlayedByPlanner {
  /** Of each step: the observations before it f32 [n, 22], the actions u8 [n] and the beliefs f32 [n, 3]. */
  readonly observations: readonly Float32Array[];
  readonly actions: readonly Uint8Array[];
  readonly beliefs: readonly Float32Array[];
  /** A copy of the last step's outputs. */
  readonly result: StepResult;
}

/** Plays whole episodes. @param onDecision called after each decision. */
export function playPlannedEpisodes(
  seeds: Uint32Array,
  options: Partial<PlannerOptions> = {},
  onDecision: (planner: Planner, step: number) => void = () => {},
): PlayedByPlanner {
  using env = createVecEnv({ numEnvs: seeds.length, copy: true });
  using planner = new Planner({ numEnvs: seeds.length, ...SMALL, ...options });
  const observations: Float32Array[] = [];
  const actions: Uint8Array[] = [];
  const beliefs: Float32Array[] = [];
  let result = env.reset({ seed: seeds });
  for (let step = 0; step < 28; step++) {
    observations.push(result.observations);
    const decision = planner.decide(result.observations);
    onDecision(planner, step);
    actions.push(decision.actions);
    beliefs.push(decision.beliefs);
    result = env.step(decision.actions, { beliefs: decision.beliefs });
  }
  return { observations, actions, beliefs, result };
}
