/** Every engine computes the golden values. */
import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import type { Outputs, StepRequest, Trajectory } from '../../src/engine/backends/backend.js';
import { allocateTrajectory } from '../../src/engine/backends/outputs.js';
import { threefry } from '../../src/engine/reference/threefry.js';
import { type ProfileChoice, toGraders, toProfiles } from '../../src/engine/validate/profiles.js';
import { type SeedChoice, toSeeds } from '../../src/engine/validate/seeds.js';
import { type RunChoice, toRunBeliefs, toRunPolicy } from '../../src/engine/vec-env/runs.js';
import {
  ACTION_NAMES,
  COMPONENT_NAMES,
  EVENT_NAMES,
  NUM_COMPONENTS,
  NUM_STEPS,
  OBSERVATION_FIELDS,
  OBSERVATION_SIZE,
  PROFILE_NAMES,
  PROFILE_SIZE,
  STATE,
  STATE_WORDS,
} from '../../src/world/fields.js';
import { ASYNC_ENGINES, type AsyncEngine, REFERENCE, reportAbsentEngines } from '../support/async-engines.js';
import { THOROUGH } from '../support/engines.js';
import {
  episodes,
  type GoldenEpisode,
  type GoldenStep,
  profiles,
  tables,
  threefryVectors,
} from '../support/golden.js';
import { type OpenedAsyncBatch, openAsyncBatch } from '../support/open-async-batch.js';
import { WORLD } from '../support/open-batch.js';

reportAbsentEngines();

test.each(threefryVectors)(
  'threefry computes the golden output of key $key, counter $counter',
  ({ key, counter, output }) => {
    const draw = threefry(Number(key[0]), Number(key[1]), Number(counter[0]), Number(counter[1]), {
      x0: 0,
      x1: 0,
    });
    expect([draw.x0, draw.x1]).toEqual(output.map(Number));
  },
);

test('the formula of crash_free gives the golden value for every crash count', () => {
  const { perReading } = WORLD.params;
  const computed = profiles.crash_free_by_crashes.map((_, n) => Math.fround(1 - Math.fround(n * perReading)));
  expect(computed).toEqual(profiles.crash_free_by_crashes);
});

/** Converts the profile of a golden episode to an option of `reset`. */
function profileOf(episode: GoldenEpisode): string | Float32Array {
  if (episode.profile !== 'explicit') return episode.profile;
  return Float32Array.from([...Object.values(episode.traits), ...Object.values(episode.weights)]);
}

/** Returns the golden observation at a step, or null if the file does not have it. */
const observationAt = ({ observations }: Pick<GoldenEpisode, 'observations'>, step: number) =>
  observations.find((observation) => observation.step === step) ?? null;

/** Returns the golden values of step t: the state hash before it, and all else after it. */
function goldenStep(episode: GoldenEpisode, t: number): object {
  const step = episode.steps[t];
  return {
    name: episode.name,
    stateHash: step.state_hash,
    refusal: null,
    event: eventCode(step.event),
    meters: step.meters,
    deltas: step.delta,
    anomalies: step.anomaly,
    // In the outputs, and in the observation.
    rewards: [step.reward, step.reward],
    observation: observationAt(episode, t + 1),
    terminated: t === 27 ? 1 : 0,
    // Only the episodes of grader v3 have these sums.
    sums: step.well === undefined ? null : sumsIn(step),
  };
}

const codes = (episode: GoldenEpisode) => episode.steps.map((step) => ACTION_NAMES.indexOf(step.action));
const beliefRow = (belief: number[] | null) =>
  Float32Array.from(belief ?? [Number.NaN, Number.NaN, Number.NaN]);
const eventCode = (name: string | null) => (name === null ? -1 : EVENT_NAMES.indexOf(name));
const hex = (hash: bigint) => hash.toString(16).padStart(16, '0');

interface BatchSetup {
  readonly seeds: SeedChoice;
  readonly profiles: ProfileChoice;
  readonly grader: string;
  readonly imagination?: boolean;
}

/** Opens a batch and resets it. */
async function openAndReset(
  engine: AsyncEngine,
  numEnvs: number,
  setup: Partial<BatchSetup>,
): Promise<OpenedAsyncBatch> {
  const { seeds = 0, profiles = 'sampled', grader = 'v2', imagination } = setup;
  const opened = await openAsyncBatch(engine, numEnvs, { imagination });
  const { modes, floats } = toProfiles(WORLD, profiles, numEnvs);
  const graders = toGraders(WORLD, grader, numEnvs);
  opened.batch.reset({ mask: null, seeds: toSeeds(seeds, numEnvs), modes, profiles: floats, graders });
  return opened;
}

const openEpisode = (engine: AsyncEngine, episode: GoldenEpisode): Promise<OpenedAsyncBatch> =>
  openAndReset(engine, 1, { ...episode, seeds: episode.seed, profiles: profileOf(episode) });

/** Opens a batch with an environment for each episode, all with the same imagination, and resets it. */
async function openEpisodes(
  engine: AsyncEngine,
  played: readonly GoldenEpisode[],
): Promise<OpenedAsyncBatch> {
  const numEnvs = played.length;
  const { imagination } = played[0];
  const opened = await openAsyncBatch(engine, numEnvs, { imagination });
  const [modes, floats] = [new Uint8Array(numEnvs), new Float32Array(numEnvs * PROFILE_SIZE)];
  for (const [env, episode] of played.entries()) {
    const profile = toProfiles(WORLD, profileOf(episode), 1);
    modes.set(profile.modes, env);
    if (profile.floats !== null) floats.set(profile.floats, env * PROFILE_SIZE);
  }
  const seeds = Uint32Array.from(played, ({ seed }) => seed);
  const names = played.map(({ grader }) => grader);
  const graders = toGraders(WORLD, names, numEnvs);
  opened.batch.reset({ mask: null, seeds, modes, profiles: floats, graders });
  return opened;
}

interface RunOptions {
  readonly policySeeds?: number[];
  readonly beliefs?: ArrayLike<number>;
}

/** Runs whole episodes. */
async function run(
  { batch, numEnvs }: OpenedAsyncBatch,
  choice: RunChoice,
  { policySeeds, beliefs }: RunOptions,
  trajectory: Trajectory | null = null,
): Promise<void> {
  const refusal = await batch.run({
    policy: toRunPolicy(choice, policySeeds, numEnvs),
    beliefs: beliefs === undefined ? null : toRunBeliefs(beliefs, numEnvs),
    stops: null,
    trajectory,
  });
  expect(refusal).toBeNull();
}

/** Runs whole episodes. @returns their trajectory. */
async function record(
  opened: OpenedAsyncBatch,
  choice: RunChoice,
  options: RunOptions = {},
): Promise<Trajectory> {
  const trajectory = allocateTrajectory(opened.numEnvs);
  await run(opened, choice, options, trajectory);
  return trajectory;
}

/** Returns the request for one step of each episode. */
function stepRequest(steps: readonly GoldenStep[]): StepRequest {
  const given = Uint8Array.from(steps, ({ belief }) => Number(belief !== null));
  const hasBelief = given.includes(1);
  const beliefs = Float32Array.from(steps.flatMap(({ belief }) => Array.from(beliefRow(belief))));
  return {
    actions: Uint8Array.from(steps, ({ action }) => ACTION_NAMES.indexOf(action)),
    beliefs: hasBelief ? beliefs : null,
    given: hasBelief ? given : null,
    stepMask: null,
    resetMask: null,
    resetSeeds: null,
  };
}

/** Returns the fields of an environment's observation by name. */
function fieldsOf({ observations }: Outputs, env: number): Record<string, number | number[]> {
  const row = observations.subarray(env * OBSERVATION_SIZE, (env + 1) * OBSERVATION_SIZE);
  return Object.fromEntries(
    OBSERVATION_FIELDS.map(({ name, offset, size }) => [
      name,
      size === 1 ? row[offset] : Array.from(row.subarray(offset, offset + size)),
    ]),
  );
}

/**
 * Returns the tables that an engine computes. The slow reference computes those of 10,000 episodes only under grader v3, with a
 * constant belief: under the other graders and without beliefs the episodes are the same.
 */
const tablesOf = (engine: AsyncEngine) =>
  Object.entries(tables).filter(
    ([key, { n }]) => engine !== REFERENCE || THOROUGH || n < 10_000 || key.endsWith('/constant/v3'),
  );

describe.each(ASYNC_ENGINES)('$name', (engine) => {
  it.each([false, true])(
    'the episodes have the golden values step by step, imagination %s',
    async (imagination) => {
      const played = episodes.filter((episode) => episode.imagination === imagination);
      const { batch, readOutputs } = await openEpisodes(engine, played);
      expect(Array.from(await batch.beliefTargets())).toEqual(
        played.flatMap((episode) => episode.belief_target),
      );
      const first = await readOutputs();
      expect(played.map((_, env) => fieldsOf(first, env))).toEqual(
        played.map((episode) => observationAt(episode, 0)),
      );
      for (let t = 0; t < NUM_STEPS; t++) {
        const hashes = await batch.stateHash();
        const refusal = batch.submit(stepRequest(played.map(({ steps }) => steps[t])));
        const outputs = await readOutputs();
        const words = await batch.save();
        // One comparison for all episodes, because a call of `expect` takes longer than a step.
        const computed = played.map((episode, env) => {
          const { name, steps } = episode;
          const fields = fieldsOf(outputs, env);
          const { event, meters, reward, deltas, anomalies } = fields;
          return {
            ...{ name, stateHash: hex(hashes[env]), refusal, event, meters, deltas, anomalies },
            rewards: [outputs.rewards[env], reward],
            observation: observationAt(episode, t + 1) === null ? null : fields,
            terminated: outputs.terminated[env],
            sums: steps[t].well === undefined ? null : sumsOf(words, env),
          };
        });
        expect(computed, `step ${t}`).toEqual(played.map((episode) => goldenStep(episode, t)));
      }
      const outputs = await readOutputs();
      for (const [env, episode] of played.entries()) expectFinal(outputs, episode, env);
    },
  );

  describe.each(episodes)('episode: $name', (episode) => {
    it('has the golden trajectory in one run', async () => {
      const opened = await openEpisode(engine, episode);
      // The golden files call an action sequence a tape.
      const choice = episode.policy === 'tape' ? Uint8Array.from(codes(episode)) : episode.policy;
      const beliefs = Float32Array.from(episode.steps.flatMap((step) => Array.from(beliefRow(step.belief))));
      const trajectory = await record(opened, choice, { beliefs });
      expect(Array.from(trajectory.actions)).toEqual(codes(episode));
      expect(Array.from(trajectory.events)).toEqual(episode.steps.map((step) => eventCode(step.event)));
      expect(Array.from(trajectory.rewards)).toEqual(episode.steps.map((step) => step.reward));
      expect(Array.from(trajectory.meters)).toEqual(episode.steps.flatMap((step) => step.meters));
      expect(Array.from(trajectory.deltas)).toEqual(episode.steps.flatMap((step) => step.delta));
      expect(Array.from(trajectory.anomalies)).toEqual(episode.steps.flatMap((step) => step.anomaly));
      expectFinal(await opened.readOutputs(), episode);
    });
  });

  it('the random policy chooses the golden actions', async () => {
    const seeds = profiles.random_policies.map((row) => row.seed);
    const policySeeds = profiles.random_policies.map((row) => row.policy_seed);
    const { actions } = await record(await openAndReset(engine, seeds.length, { seeds }), 'random', {
      policySeeds,
    });
    expect(Array.from(actions)).toEqual(profiles.random_policies.flatMap((row) => row.actions));
  });

  it('sampled profiles have the golden belief targets and events', async () => {
    const seeds = profiles.profiles.map((row) => row.seed);
    const opened = await openAndReset(engine, seeds.length, { seeds });
    const targets = profiles.profiles.flatMap((row) => row.belief_target);
    expect(Array.from(await opened.batch.beliefTargets())).toEqual(targets);
    const { events } = await record(opened, 'heuristic');
    expect(Array.from(events)).toEqual(profiles.profiles.flatMap((row) => row.events));
  });

  it('sampled and discrete profiles have the golden values', async () => {
    const seeds = profiles.profiles.map((row) => row.seed);
    // With equal seeds, equal hashes mean equal profiles.
    const hashes = async (choice: ProfileChoice) => {
      const { batch } = await openAndReset(engine, seeds.length, { seeds, profiles: choice });
      return batch.stateHash();
    };
    const floats = profiles.profiles.flatMap(({ traits, weights }) => [
      ...Object.values(traits),
      ...Object.values(weights),
    ]);
    expect(await hashes('sampled')).toEqual(await hashes(Float32Array.from(floats)));
    const names = profiles.profiles.map((row) => row.discrete_profile);
    expect(PROFILE_NAMES).toEqual(expect.arrayContaining(names));
    expect(await hashes('discrete')).toEqual(await hashes(names));
  });

  it.each(tablesOf(engine))('the scores of %s have the golden digest and means', async (key, golden) => {
    const [condition, policy, belief, grader] = key.split('/');
    const seeds = firstSeed(condition);
    const setup = { seeds, profiles: condition.split(':')[1] ?? 'sampled', grader };
    const opened = await openAndReset(engine, golden.n, setup);
    await run(opened, policy as 'random', belief === 'constant' ? { beliefs: [0.5, 0.5, 0.5] } : {});
    const { finalScores, beliefMae, components } = await opened.readOutputs();
    const bytes = new Uint8Array(finalScores.buffer, finalScores.byteOffset, golden.n * 4);
    expect(createHash('sha256').update(bytes).digest('hex').slice(0, 16)).toBe(golden.digest);
    const { n } = golden;
    if (golden.component_digest !== undefined) {
      const all = new Uint8Array(components.buffer, components.byteOffset, components.byteLength);
      const digest = createHash('sha256').update(all).digest('hex').slice(0, 16);
      expect(digest).toBe(golden.component_digest);
    }
    expect(Math.abs(meanOf(finalScores, n) - golden.final_score)).toBeLessThan(1e-12);
    expect(Math.abs(meanOf(beliefMae, n) - golden.belief_mae)).toBeLessThan(1e-12);
    COMPONENT_NAMES.forEach((name, k) => {
      const mean = meanOf(components, n, k, NUM_COMPONENTS);
      expect(Math.abs(mean - golden[name])).toBeLessThan(1e-12);
    });
  });
});

/** Returns the mean of n values: the one at index `first` and every `width`-th after it. */
function meanOf(values: Float32Array, n: number, first = 0, width = 1): number {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += values[first + i * width];
  return sum / n;
}

/**
 * Returns the first seed of a condition: 0 for a named profile, as in `discrete:introvert_morning`. The condition `large`
 * exists only in the golden tables: 10,000 seeds.
 */
function firstSeed(condition: string): number {
  return { 'in-distribution': 0, ood: 10000, large: 20000 }[condition] ?? 0;
}

/** Returns the mean reward without noise of the half from step `first` on: rule 8 of docs/world.md on golden values. */
function halfMean({ steps, weights }: GoldenEpisode, first: number): number {
  const f32 = Math.fround;
  const { rewardBias, rewardScale, crashPenalty, crashThreshold } = WORLD.params;
  const biasedWeights = Object.values(weights).map((weight, k) => f32(weight + rewardBias[k]));
  const half = steps.slice(first, first + 14).map(({ delta, meters }) => {
    const terms = biasedWeights.map((weight, k) => f32(weight * delta[k]));
    const low = meters.filter((meter) => meter < crashThreshold).length;
    return f32(f32(rewardScale * terms.reduce((sum, term) => f32(sum + term))) - f32(crashPenalty * low));
  });
  return f32(half.reduce((sum, reward) => f32(sum + reward)) * f32(1 / 14));
}

/** Returns the sums from which the grade computes `wellbeing` and `belief_skill`, in the saved state of an environment. */
const sumsOf = (words: Uint32Array, env: number): object => {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length).subarray(env * STATE_WORDS);
  return { well: floats[STATE.well], skill: floats[STATE.skill] };
};
/** Returns the same sums of a golden step. */
const sumsIn = ({ well, skill }: GoldenStep): object => ({ well, skill });

function expectFinal(result: Outputs, episode: GoldenEpisode, env = 0): void {
  const { final } = episode;
  const components = result.components.subarray(env * NUM_COMPONENTS);
  expect(Object.fromEntries(COMPONENT_NAMES.map((name, k) => [name, components[k]])), episode.name).toEqual(
    Object.fromEntries(COMPONENT_NAMES.map((name) => [name, final[name]])),
  );
  expect(result.beliefMae[env], episode.name).toBe(final.belief_mae);
  expect(result.finalScores[env], episode.name).toBe(final.final_score);
  expect([result.firstHalfMeans[env], result.secondHalfMeans[env]], episode.name).toEqual([
    halfMean(episode, 0),
    halfMean(episode, 14),
  ]);
}
