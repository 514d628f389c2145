/** Records episodes of players that use observations, so that they can be played again. */
import type { openPlanner } from '../../agents/planner/planner.js';
import type { PlannerOptions } from '../../agents/planner/planner-options.js';
import { playReactive } from '../../agents/search/reactive.js';
import { yieldTurn } from '../../engine/engine-calls.js';
import { openEnv } from '../../engine/node.js';
import { NUM_BELIEFS, NUM_STEPS } from '../../world/fields.js';
import { createWorld } from '../../world/world.js';
import { trueProfilesOf } from '../play-policy.js';
import type { UserPolicy } from '../user-policy.js';
import { type AuditProfiles, type AuditRequest, freshSeeds, profileChoice } from './audit-options.js';
import { type Player, type Recording, recordedPlayer, silentPlayer } from './players.js';
import { IMAGINED_EPISODES, roundsOf, type SearchProgress } from './searches.js';

/** A request, with the function that opens its planners. An audit's own files need nothing else of the planner. */
export interface PlannedRequest extends AuditRequest {
  readonly openPlanner: typeof openPlanner;
}

/** The knowledge of a planner: its observations, the prior alone, or the true profile. */
export type Knowledge = 'inference' | 'prior' | 'truth';

/** The number of episodes that are planned together. A small number lets an abort take effect soon, and changes no decision. */
const PLANNED_TOGETHER = 4;

/**
 * Returns the actions of a reactive policy in the episodes of the first fresh seeds, u8 [episodes, 28].
 * @param policy its parameters, f64 [480].
 */
export async function recordReactive(
  { engine, weights }: AuditRequest,
  policy: Float64Array,
  episodes: number,
): Promise<Uint8Array> {
  await using env = await openEnv({ numEnvs: episodes, grader: weights, ...engine });
  const actions = new Uint8Array(episodes * NUM_STEPS);
  await playReactive(env, policy, freshSeeds(episodes), episodes, actions);
  return actions;
}

/**
 * Plays the episodes of the first fresh seeds with a planner that maximises the final score.
 * @throws the signal's reason.
 */
export async function recordPlanner(
  request: PlannedRequest,
  knowledge: Knowledge,
  progress: SearchProgress,
  episodes: number,
  profiles: AuditProfiles = 'sampled',
): Promise<Recording> {
  const report = progress.next(episodes * IMAGINED_EPISODES);
  const recording = {
    actions: new Uint8Array(episodes * NUM_STEPS),
    beliefs: new Float32Array(episodes * NUM_STEPS * NUM_BELIEFS),
  };
  const seeds = freshSeeds(episodes);
  for (let first = 0; first < episodes; first += PLANNED_TOGETHER) {
    const part = seeds.subarray(first, first + PLANNED_TOGETHER);
    const reportStep = (step: number) => report(first + (part.length * step) / NUM_STEPS, episodes);
    const { actions, beliefs } = await recordPart(request, knowledge, profiles, part, reportStep);
    recording.actions.set(actions, first * NUM_STEPS);
    recording.beliefs.set(beliefs, first * NUM_STEPS * NUM_BELIEFS);
  }
  return recording;
}

/** Plays the episodes of `seeds` with a planner. @param report called with the number of steps played. */
async function recordPart(
  request: PlannedRequest,
  knowledge: Knowledge,
  profiles: AuditProfiles,
  seeds: Uint32Array,
  report: (step: number) => void,
): Promise<Recording> {
  const { engine, weights: grader, signal } = request;
  const numEnvs = seeds.length;
  await using env = await openEnv({ numEnvs, grader, profiles: profileChoice(profiles, numEnvs), ...engine });
  const options: PlannerOptions = { numEnvs, grader, rounds: roundsOf(request), ...engine };
  await using planner = await request.openPlanner({
    ...options,
    inference: knowledge !== 'prior',
    oracle: knowledge === 'truth' ? profilesOf(profiles, seeds) : undefined,
  });
  const recording = await recordMoves(env, seeds, signal, async (observations, step) => {
    report(step);
    return planner.decide(observations);
  });
  report(NUM_STEPS);
  return recording;
}

/** Plays the episodes of `seeds`. @param decide returns the moves for the observations of a step. */
async function recordMoves(
  env: Awaited<ReturnType<typeof openEnv>>,
  seeds: Uint32Array,
  signal: AbortSignal | undefined,
  decide: (observations: Float32Array, step: number) => Promise<Move>,
): Promise<Recording> {
  const actions = new Uint8Array(seeds.length * NUM_STEPS);
  const beliefs = new Float32Array(actions.length * NUM_BELIEFS).fill(Number.NaN);
  let { observations } = await env.reset({ seed: seeds });
  for (let step = 0; step < NUM_STEPS; step++) {
    const move = await decide(observations, step);
    for (let i = 0; i < seeds.length; i++) {
      const row = i * NUM_STEPS + step;
      actions[row] = move.actions[i];
      if (move.beliefs !== null)
        beliefs.set(move.beliefs.subarray(i * NUM_BELIEFS, (i + 1) * NUM_BELIEFS), row * NUM_BELIEFS);
    }
    ({ observations } = await env.step(move.actions, { beliefs: move.beliefs ?? undefined }));
    // Lets signals and timers run.
    await yieldTurn();
    signal?.throwIfAborted();
  }
  return { actions, beliefs };
}

/** The moves of one step in n episodes: action codes [n], and beliefs f32 [n, 3]; null without beliefs. */
interface Move {
  readonly actions: Uint8Array;
  readonly beliefs: Float32Array | null;
}

/** Returns the true profiles of episodes, f32 [n, 16]. */
const profilesOf = (profiles: AuditProfiles, seeds: Uint32Array): Float32Array =>
  profiles === 'neutral'
    ? (profileChoice(profiles, seeds.length) as Float32Array)
    : trueProfilesOf(createWorld(), { profile: profiles, seeds });

/**
 * Plays each policy in as many episodes as a planner, with the first fresh seeds (audit-options.ts).
 * @returns players with the recorded actions and beliefs, in the order of the policies.
 */
export async function recordPolicies(request: AuditRequest): Promise<Player[]> {
  const players: Player[] = [];
  for (const policy of request.policies) {
    const { name } = policy;
    const recording = await recordPolicy(request, policy);
    const isSilent = recording.beliefs.every(Number.isNaN);
    players.push(
      isSilent ? silentPlayer('policy', name, recording.actions) : recordedPlayer('policy', name, recording),
    );
  }
  return players;
}

async function recordPolicy(request: AuditRequest, policy: UserPolicy): Promise<Recording> {
  const { engine, weights, grader, signal, plannerEpisodes: numEnvs } = request;
  const seeds = freshSeeds(numEnvs);
  await using env = await openEnv({ numEnvs, grader: weights, ...engine });
  const { world } = env;
  using player = await policy.open({ ...engine, numEnvs, grader, world }, signal);
  const playing = new Uint8Array(numEnvs).fill(1);
  const batch = { profile: 'sampled', seeds };
  await player.reset?.({ mask: playing.slice(), seeds, profiles: () => trueProfilesOf(world, batch) });
  return await recordMoves(env, seeds, signal, async (observations, step) =>
    player.act({ observations, steps: new Uint8Array(numEnvs).fill(step), playing }),
  );
}
