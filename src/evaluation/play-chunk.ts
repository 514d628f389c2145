/** Plays a chunk of a condition's episodes with every policy. */
import { BASELINE } from '../agents/policies/fixed-policies.js';
import type { Env } from '../engine/node.js';
import type { RunResult } from '../engine/vec-env/vec-env-options.js';
import type { TrajectoryEpisode } from '../rollouts/trajectories/trajectory-episode.js';
import { type LlmPolicy, type NamedPolicy, playerOf } from './choose-policies.js';
import type { EpisodeBatch, Played, PlayedEpisodes } from './evaluate-options.js';
import type { LlmEpisodes } from './llm-episodes.js';
import { type PlayOptions, playPolicy } from './play-policy.js';
import { EvaluationRecorder } from './record-trajectories.js';
import type { ScoreTally } from './score-tally.js';

/** Episodes of one condition that are played together. */
export interface Chunk {
  readonly condition: string;
  readonly batch: EpisodeBatch;
  /** Whether to record trajectories. */
  readonly recorded: boolean;
}

/** The episodes of a chunk as one policy played them. */
export interface PlayedChunk {
  readonly policy: NamedPolicy;
  readonly episodes: PlayedEpisodes;
  /** Trajectories; [] without recording, and for a language model, whose episodes were recorded earlier. */
  readonly trajectories: readonly TrajectoryEpisode[];
}

/** Results of episodes that were played before. */
export interface StoredResults {
  /** Returns the results of a policy's episodes, in the order of the batch; null if they must be played. */
  resultsOf(
    policy: Exclude<NamedPolicy, LlmPolicy>,
    condition: string,
    batch: EpisodeBatch,
  ): Promise<{ readonly result: RunResult; readonly trajectories: readonly TrajectoryEpisode[] } | null>;
}

/** The tallies of a chunk's policies, and the sources of their results. */
export interface ChunkPolicies {
  /** The tally of each policy. After the baseline, the policies play in this order. */
  readonly tallies: ReadonlyMap<NamedPolicy, Pick<ScoreTally, 'add'>>;
  /** The recorded episodes of each language model. */
  readonly llmEpisodes: ReadonlyMap<NamedPolicy, LlmEpisodes>;
  readonly stored: StoredResults | null;
  readonly options: PlayOptions;
}

/**
 * Plays the episodes with every policy, unless their results are stored. Adds the results to the tallies, and yields them.
 * The baseline always comes first, because every row is compared with it on the same seeds.
 */
export async function* playChunk(
  env: Env,
  { condition, batch, recorded }: Chunk,
  { tallies, llmEpisodes, stored, options }: ChunkPolicies,
): AsyncGenerator<PlayedChunk> {
  const { grader } = options;
  const others = Array.from(tallies.keys()).filter((policy) => policy !== BASELINE);
  let baseline = new Float32Array();
  for (const policy of [BASELINE, ...others]) {
    const tally = tallies.get(policy);
    const isModel = policy.kind === 'model';
    const isRecorded = recorded && tally !== undefined && !isModel;
    const origin = { player: playerOf(policy), condition, grader };
    const recorder = isRecorded ? new EvaluationRecorder(env.world, batch, origin) : null;
    const playedPolicy = isModel ? llmEpisodes.get(policy)!.replayPolicy(condition, batch) : policy;
    const earlier = isModel ? null : ((await stored?.resultsOf(policy, condition, batch)) ?? null);
    const result = earlier?.result ?? (await playPolicy(env, batch, playedPolicy, options, recorder));
    if (policy === BASELINE) baseline = result.finalScores.slice();
    // The baseline plays even if it is not among the policies; then it has no row.
    if (tally === undefined) continue;
    tally.add(result, baseline);
    const episodes = { condition, ...policyFields(policy, grader.name), ...batch, result };
    yield { policy, episodes, trajectories: earlier?.trajectories ?? recorder?.end(result) ?? [] };
  }
}

/** Returns the fields that name a policy in results. */
export const policyFields = (policy: NamedPolicy, grader: string): Omit<Played, 'condition'> => ({
  policy: policy.actions,
  belief: policy.belief,
  sequenceGrader: policy.sequenceGrader(grader),
  oracle: policy.usesHiddenState,
});
