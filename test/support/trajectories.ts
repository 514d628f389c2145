/** Records trajectories of test policies, with and without completions. */
import { runSync } from '../../src/engine/engine-calls.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import { heuristicAction, randomAction } from '../../src/engine/reference/baselines.js';
import { createVecEnv } from '../../src/index.js';
import { prompts } from '../../src/rollouts/text/prompt.js';
import { type EpisodeSpec, TrajectoryRecorder } from '../../src/rollouts/trajectories/episode-recorder.js';
import type { Move } from '../../src/rollouts/trajectories/move.js';
import type { Player, TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { ACTION_NAMES, NUM_METERS, NUM_SLOTS, NUM_STEPS, OBSERVATION } from '../../src/world/fields.js';
import { WORLD } from './open-batch.js';

/** What a test policy is told at a step. */
export interface StepInput {
  readonly step: number;
  readonly seed: number;
  /** f32 [5]. */
  readonly meters: Float32Array;
  readonly prompt: ReturnType<typeof prompts>[number];
}

type TestPolicy = (input: StepInput) => Move;

const heuristicCode = ({ step, meters }: StepInput): number =>
  heuristicAction(WORLD.params, step % NUM_SLOTS, meters);
/** Returns the random policy's action for policy seed 7. */
const randomCode = ({ step, seed }: StepInput): number => randomAction(WORLD.params, seed, step, 7);

/** Policies of tests. */
export const TEST_POLICIES = {
  heuristic: (input) => ({ action: heuristicCode(input), belief: null }),
  constant: (input) => ({ action: heuristicCode(input), belief: [0.5, 0.5, 0.5] }),
  /** Answers in text. Some answers lack the action, the belief, both, or the end of the reasoning. */
  incompleteText: (input) => {
    const { step, seed, prompt } = input;
    const action = ACTION_NAMES[randomCode(input)].toUpperCase();
    const digits = `${seed % 10} ${step % 10} 4`;
    const answers = [
      `<reasoning>Meters: ${input.meters.join(' ')}; “slow” \u{1F4A4}\n</reasoning>\n${digits} ${action}`,
      `Answer: ${digits} ${action}`,
      action,
      digits,
      'I would rather not.',
      `<reasoning>${action} or`,
    ];
    return { prompt, completion: answers[(seed + step) % answers.length], usage: USAGE };
  },
  /** Answers in text, always complete. */
  completeText: (input) => ({
    prompt: input.prompt,
    completion: `<reasoning>Step ${input.step}.</reasoning>\n5 5 5 ${ACTION_NAMES[heuristicCode(input)].toUpperCase()}`,
  }),
} as const satisfies Record<string, TestPolicy>;

/** The usage of each answer of `incompleteText`. */
export const USAGE = { requests: 1, prompt_tokens: 700, completion_tokens: 12, cost_usd: 0.125 };

/** Returns the player of a recording, by default a teacher called test. */
export const playerOf = (changes: Partial<Player> = {}): Player => ({
  teacher: 'test',
  model: null,
  objective: null,
  oracle: false,
  ...changes,
});

/** Returns the starts of episodes, by default with sampled profiles. */
export const episodeStarts = (
  seeds: readonly number[],
  condition = 'custom',
  profileMode = 'sampled',
): EpisodeSpec[] => seeds.map((seed) => ({ seed, condition, profileMode }));

export interface RecordingOptions {
  readonly policy?: TestPolicy;
  readonly player?: Player;
  readonly grader?: string;
  readonly backend?: string;
}

/** Plays episodes in one batch and records them. */
export function recordEpisodes(
  starts: readonly EpisodeSpec[],
  { policy = TEST_POLICIES.completeText, player = playerOf(), grader = 'v2', backend }: RecordingOptions = {},
): TrajectoryEpisode[] {
  using env = createVecEnv({ numEnvs: starts.length, observation: { history: true }, backend });
  const recorder = new TrajectoryRecorder(env, player, toGrader(grader));
  let { observations } = runSync(recorder.begin(starts));
  for (let step = 0; step < NUM_STEPS; step++) {
    const stepPrompts = prompts(observations, undefined, { grader });
    const width = observations.length / starts.length;
    const moves = starts.map(({ seed }, i) => {
      const from = i * width + OBSERVATION.meters;
      const meters = observations.slice(from, from + NUM_METERS);
      return policy({ step, seed, meters, prompt: stepPrompts[i] });
    });
    ({ observations } = runSync(recorder.step(moves)));
  }
  return recorder.take();
}

/** Plays episodes of the seeds, and returns them as a file has them. */
export const episodesText = (seeds: readonly number[], options?: RecordingOptions): string =>
  recordEpisodes(episodeStarts(seeds), options).map(episodeLine).join('');

/**
 * Returns a copy of an episode with the value at a path ("steps.3.belief") replaced.
 * @param to the new value, or a function that computes it from the old one; undefined removes the value.
 */
export function changedAt(episode: TrajectoryEpisode, path: string, to: unknown): TrajectoryEpisode {
  const copy = structuredClone(episode);
  const keys = path.split('.');
  const last = keys.pop()!;
  const parent = keys.reduce(
    (at, key) => at[key] as Record<string, unknown>,
    copy as unknown as Record<string, unknown>,
  );
  const value = typeof to === 'function' ? to(parent[last]) : to;
  if (value === undefined) delete parent[last];
  else parent[last] = value;
  return copy;
}
