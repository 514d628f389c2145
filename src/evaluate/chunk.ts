/** Some weeks of a condition, played by every policy. */
import { BASELINE } from '../policies/policies.js';
import type { TrajectoryEpisode } from '../trajectory/episode.js';
import type { VecEnv } from '../vec-env.js';
import type { AskedWeeks } from './asked.js';
import { isAsked, isOracle, type Playing, playerOf } from './choosing.js';
import type { Played, PlayedEpisodes } from './options.js';
import { type PlayOptions, play } from './playing.js';
import { WeekRecorder } from './recording.js';
import type { Tally } from './tally.js';
import type { Weeks } from './weeks.js';

export interface Chunk {
  readonly condition: string;
  readonly weeks: Weeks;
  /** Whether they are noted as trajectories. */
  readonly recorded: boolean;
}

export interface PlayedChunk {
  readonly by: Playing;
  readonly played: PlayedEpisodes;
  /** The same; [] where none are noted, and for a language model, whose weeks were noted when it was asked. */
  readonly trajectories: readonly TrajectoryEpisode[];
}

/**
 * Plays the weeks with every policy of the tallies, which are added to. The baseline plays first, asked for or not: every
 * row is compared with it on the same seeds.
 * @param asked the weeks of language models, which are played as they were.
 */
export async function* playChunk(
  env: VecEnv,
  { condition, weeks, recorded }: Chunk,
  tallies: ReadonlyMap<Playing, Tally>,
  asked: ReadonlyMap<Playing, AskedWeeks>,
  options: PlayOptions,
): AsyncGenerator<PlayedChunk> {
  const { grader } = options;
  const others = Array.from(tallies.keys()).filter((policy) => policy !== BASELINE);
  let baseline = new Float32Array();
  for (const policy of [BASELINE, ...others]) {
    const tally = tallies.get(policy);
    const noted = recorded && tally !== undefined && !isAsked(policy);
    const as = { player: playerOf(policy), condition, grader };
    const recorder = noted ? new WeekRecorder(env.world, weeks, as) : null;
    const by = isAsked(policy) ? asked.get(policy)!.playing(condition, weeks) : policy;
    const result = await play(env, weeks, by, options, recorder);
    if (policy === BASELINE) baseline = result.finalScores.slice();
    if (tally === undefined) continue;
    tally.add(result, baseline);
    const played = { condition, ...playedBy(policy, grader.name), ...weeks, result };
    yield { by: policy, played, trajectories: recorder?.end(result) ?? [] };
  }
}

/** As results call who played. */
export const playedBy = (policy: Playing, grader: string): Omit<Played, 'condition'> => ({
  policy: policy.actions,
  belief: policy.belief,
  tape: policy.tape(grader),
  oracle: isOracle(policy),
});
