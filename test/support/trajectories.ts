/** Real trajectories: weeks played by policies that are there already, in words and without. */
import { toGrader } from '../../src/graders/grader.js';
import { createVecEnv } from '../../src/index.js';
import { heuristicAction, randomAction } from '../../src/reference/baselines.js';
import { prompts } from '../../src/text/prompt.js';
import type { Player, TrajectoryEpisode } from '../../src/trajectory/episode.js';
import type { Move } from '../../src/trajectory/move.js';
import { type Beginning, TrajectoryRecorder } from '../../src/trajectory/recorder.js';
import { ACTION_NAMES, NUM_METERS, NUM_SLOTS, NUM_STEPS, OBSERVATION } from '../../src/world/fields.js';
import { WORLD } from './seam.js';

export interface Scene {
  readonly step: number;
  readonly seed: number;
  /** f32 [5]. */
  readonly meters: Float32Array;
  readonly prompt: ReturnType<typeof prompts>[number];
}

type Play = (scene: Scene) => Move;

const chosen = ({ step, meters }: Scene): number => heuristicAction(WORLD.params, step % NUM_SLOTS, meters);
const drawn = ({ step, seed }: Scene): number => randomAction(WORLD.params, seed, step, 7);

/** Who plays, by what tests call it. */
export const PLAYS = {
  heuristic: (scene) => ({ action: chosen(scene), belief: null }),
  constant: (scene) => ({ action: chosen(scene), belief: [0.5, 0.5, 0.5] }),
  /** In words; now and then nothing, an action or a belief alone, or a thought that does not end. */
  talker: (scene) => {
    const { step, seed, prompt } = scene;
    const action = ACTION_NAMES[drawn(scene)].toUpperCase();
    const digits = `${seed % 10} ${step % 10} 4`;
    const answers = [
      `<reasoning>Meters: ${scene.meters.join(' ')}; “slow” \u{1F4A4}\n</reasoning>\n${digits} ${action}`,
      `Answer: ${digits} ${action}`,
      action,
      digits,
      'I would rather not.',
      `<reasoning>${action} or`,
    ];
    return { prompt, completion: answers[(seed + step) % answers.length], usage: USAGE };
  },
  /** In words that always say all. */
  speaker: (scene) => ({
    prompt: scene.prompt,
    completion: `<reasoning>Step ${scene.step}.</reasoning>\n5 5 5 ${ACTION_NAMES[chosen(scene)].toUpperCase()}`,
  }),
} as const satisfies Record<string, Play>;

export const USAGE = { requests: 1, prompt_tokens: 700, completion_tokens: 12, cost_usd: 0.125 };

export const playerOf = (changes: Partial<Player> = {}): Player => ({
  teacher: 'test',
  model: null,
  objective: null,
  oracle: false,
  ...changes,
});

/** Weeks of sampled persons. */
export const weeksOf = (
  seeds: readonly number[],
  condition = 'custom',
  profileMode = 'sampled',
): Beginning[] => seeds.map((seed) => ({ seed, condition, profileMode }));

export interface Recording {
  readonly play?: Play;
  readonly player?: Player;
  readonly grader?: string;
  readonly backend?: string;
}

/** Plays weeks together, and notes them. */
export function episodesOf(
  weeks: readonly Beginning[],
  { play = PLAYS.speaker, player = playerOf(), grader = 'v2', backend }: Recording = {},
): TrajectoryEpisode[] {
  using env = createVecEnv({ numEnvs: weeks.length, observation: { history: true }, backend });
  const recorder = new TrajectoryRecorder(env, player, toGrader(grader));
  let { observations } = recorder.begin(weeks);
  for (let step = 0; step < NUM_STEPS; step++) {
    const asked = prompts(observations);
    const width = observations.length / weeks.length;
    const moves = weeks.map(({ seed }, i) => {
      const from = i * width + OBSERVATION.meters;
      const meters = observations.slice(from, from + NUM_METERS);
      return play({ step, seed, meters, prompt: asked[i] });
    });
    ({ observations } = recorder.step(moves));
  }
  return recorder.take();
}

/**
 * A copy of an episode with what stands at a path ("steps.3.belief") replaced: by a value, by what a function makes of
 * it, or, if that is undefined, by nothing.
 */
export function changedAt(episode: TrajectoryEpisode, path: string, to: unknown): TrajectoryEpisode {
  const copy = structuredClone(episode);
  const keys = path.split('.');
  const last = keys.pop()!;
  const holder = keys.reduce(
    (at, key) => at[key] as Record<string, unknown>,
    copy as unknown as Record<string, unknown>,
  );
  const value = typeof to === 'function' ? to(holder[last]) : to;
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}
