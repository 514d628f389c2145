/** Evaluation: every policy under every condition, streamed in constant memory. */
import { type Grader, graderWeights, toGrader } from '../graders/grader.js';
import { BASELINE, POLICY_NAMES, type Policy } from '../policies/policies.js';
import { findAnyPolicy, STEPPED_NAMES, type SteppedPolicy } from '../policies/stepped.js';
import type { Player, TrajectoryEpisode } from '../trajectory/episode.js';
import { checkInteger } from '../validate/values.js';
import type { VecEnvOptions } from '../vec-env/options.js';
import { othersTurn } from '../vec-env/turns.js';
import type { VecEnv } from '../vec-env.js';
import { type Condition, episodesOf, profilesOf, seedsOf, selectConditions } from './conditions.js';
import { EnvOfSize } from './env-of-size.js';
import { checkEvaluateOptions, type EvaluateOptions, type Played, type PlayedEpisodes } from './options.js';
import { isStepped, type PlayOptions, play } from './playing.js';
import { WeekRecorder } from './recording.js';
import { describeRun, type RunInfo } from './run-info.js';
import { type Summary, Tally } from './tally.js';
import { chunksOf, type Weeks } from './weeks.js';

export interface Evaluation extends RunInfo {
  /** Wall time. */
  readonly seconds: number;
  /** By condition, then by policy. */
  readonly rows: readonly EvaluationRow[];
}

export interface EvaluationRow extends Played, Summary {
  /** "0-99". */
  readonly seeds: string;
  /** 'sampled', 'discrete', a profile's name, or 'named' for the pool of the three named ones. */
  readonly profiles: string;
}

/** Of either kind. */
type Playing = Policy | SteppedPolicy;

/** A chunk's states and outputs fit a cache, and the reference backend still answers a signal within a second. */
const CHUNK = 8192;
/** So that a policy that thinks about each step answers a signal, and shows its progress, within seconds. */
const SMALL_CHUNK = 128;
const MAX_CHUNK = 2 ** 20;
const DEFAULT_GRADER = 'v2';

/**
 * Plays every policy under every condition and summarises final scores, paired wins against the heuristic and digests.
 * @throws InputError for options that name nothing known or do not go together, before anything is played;
 *   BackendError if the backend or kernel asked for cannot be used here.
 */
export async function evaluate(options: EvaluateOptions = {}): Promise<Evaluation> {
  checkEvaluateOptions(options);
  const policies = [...new Set(options.policies ?? POLICY_NAMES)].map(findAnyPolicy);
  const conditions = selectConditions(options);
  const grader = toGrader(options.grader === undefined ? DEFAULT_GRADER : options.grader);
  const usual = options.onTrajectories || policies.some(isStepped) ? SMALL_CHUNK : CHUNK;
  const chunkSize = checkInteger('chunkSize', options.chunkSize ?? usual, 1, MAX_CHUNK);
  const started = performance.now();
  using environments = new EnvOfSize(engineOf(options, grader));
  const info = describeRun(environments.of(1), grader);
  await options.onStart?.(info);
  const total = conditions.reduce((sum, condition) => sum + episodesOf(condition), 0) * policies.length;
  const asked = playOptionsOf(options, grader);
  let done = 0;
  const rows: EvaluationRow[] = [];
  for (const condition of conditions) {
    const tallies = new Map(policies.map((policy) => [policy, new Tally()]));
    for (const weeks of chunksOf(condition, chunkSize)) {
      options.signal?.throwIfAborted();
      const env = environments.of(weeks.seeds.length);
      const chunk = { condition: condition.name, weeks, recorded: options.onTrajectories !== undefined };
      for await (const { played, trajectories } of playChunk(env, chunk, tallies, asked)) {
        await options.onEpisodes?.(played);
        await options.onTrajectories?.(trajectories);
        done += env.numEnvs;
        if (STEPPED_NAMES.includes(played.policy)) options.onProgress?.(done, total);
      }
      if (!isStepped(policies[policies.length - 1])) options.onProgress?.(done, total);
      // Lets signals and timers in; without it a long run could not be interrupted.
      await othersTurn();
    }
    rows.push(...rowsOf(condition, tallies, grader.name));
  }
  options.signal?.throwIfAborted();
  return { ...info, seconds: (performance.now() - started) / 1000, rows };
}

function engineOf(
  { backend, kernel, threads, profiles }: EvaluateOptions,
  grader: Grader,
): Omit<VecEnvOptions, 'numEnvs'> {
  return { backend, kernel, threads, profiles, grader: graderWeights(grader) };
}

const playOptionsOf = (
  { backend, kernel, threads, signal }: EvaluateOptions,
  grader: Grader,
): PlayOptions => ({
  ...{ grader, backend, kernel, threads, signal },
});

/** Weeks of a condition that every policy plays. */
interface Chunk {
  readonly condition: string;
  readonly weeks: Weeks;
  /** Whether they are noted as trajectories. */
  readonly recorded: boolean;
}

interface PlayedChunk {
  readonly played: PlayedEpisodes;
  /** The same; [] where none are noted. */
  readonly trajectories: readonly TrajectoryEpisode[];
}

/** The baseline plays first, asked for or not: every row is compared with it on the same seeds. */
async function* playChunk(
  env: VecEnv,
  { condition, weeks, recorded }: Chunk,
  tallies: ReadonlyMap<Playing, Tally>,
  options: PlayOptions,
): AsyncGenerator<PlayedChunk> {
  const { grader } = options;
  const others = Array.from(tallies.keys()).filter((policy) => policy !== BASELINE);
  let baseline = new Float32Array();
  for (const policy of [BASELINE, ...others]) {
    const tally = tallies.get(policy);
    const as = { player: playerOf(policy), condition, grader };
    const recorder = recorded && tally !== undefined ? new WeekRecorder(env.world, weeks, as) : null;
    const result = await play(env, weeks, policy, options, recorder);
    if (policy === BASELINE) baseline = result.finalScores.slice();
    if (tally === undefined) continue;
    tally.add(result, baseline);
    const played = { condition, ...playedBy(policy, grader.name), ...weeks, result };
    yield { played, trajectories: recorder?.end(result) ?? [] };
  }
}

const playedBy = (policy: Playing, grader: string): Omit<Played, 'condition'> => ({
  policy: policy.actions,
  belief: policy.belief,
  tape: policy.tape(grader),
  oracle: isStepped(policy) && policy.oracle,
});

/** As trajectories call who plays: by the policy's name. */
const playerOf = (policy: Playing): Player => ({
  teacher: policy.name,
  model: null,
  objective: isStepped(policy) ? policy.objective : null,
  oracle: isStepped(policy) && policy.oracle,
});

function rowsOf(condition: Condition, tallies: ReadonlyMap<Playing, Tally>, grader: string): EvaluationRow[] {
  return Array.from(tallies, ([policy, tally]) => ({
    condition: condition.name,
    ...playedBy(policy, grader),
    seeds: seedsOf(condition),
    profiles: profilesOf(condition),
    ...tally.summary(),
  }));
}
