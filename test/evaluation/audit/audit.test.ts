/** The audit of a grader: the same result on every backend, and gains that follow from its action sequences. */
import { describe, expect, it } from 'vitest';
import { repeatActions } from '../../../src/agents/policies/open-loop.js';
import type { RunOptions } from '../../../src/engine/node.js';
import { auditToJson } from '../../../src/evaluation/result-json.js';
import {
  ACTION_NAMES,
  type Audit,
  type AuditOptions,
  type AuditRow,
  anchorsOf,
  audit,
  COMPONENT_NAMES,
  createVecEnv,
  GRADER_NAMES,
  graderWeights,
  searchActionSequences,
} from '../../../src/index.js';
import { playProblem, profileOf } from '../../support/action-sequences.js';
import { NATIVE, reportAbsentEngines, THOROUGH, TWO_KERNELS } from '../../support/engines.js';

reportAbsentEngines();

/** Options of an audit that takes a second on the fastest kernel. */
const TINY = { evaluations: 1000, episodes: 20, profiles: 2, plannerEpisodes: 2 };
/** Options with enough episodes for narrow intervals. */
const SMALL = { ...TINY, episodes: 60, profiles: 3 };
/** v1 takes as long as the others, and pays for no belief. */
const GRADERS = THOROUGH ? GRADER_NAMES : ['v2', 'v3'];
/** The first fresh seed. The scores of an audit are of fresh seeds, whose episodes its searches do not play. */
const FRESH = 20_000;
/** The components that v2 weighs and that depend on actions. A push is the best sequence for one of them alone. */
const PUSH_COMPONENTS = COMPONENT_NAMES.slice(0, 5);
const CONSTANT = [0.5, 0.5, 0.5];

/** Returns the part of an audit that does not depend on the machine and backend. */
function numbersOf({ backend, backendReason, kernel, threads, machine, seconds, ...numbers }: Audit) {
  return numbers;
}

const audits = new Map<string, Promise<Audit>>();
/** Runs an audit at the first call with its options, and returns the same result afterwards. */
function auditOnce(options: AuditOptions): Promise<Audit> {
  const key = JSON.stringify({ grader: 'v2', ...options });
  if (!audits.has(key)) audits.set(key, audit(options));
  return audits.get(key)!;
}

const rowOf = ({ rows }: Audit, policy: string): AuditRow => rows.find((row) => row.policy === policy)!;

const sequenceOf = ({ sequences }: Audit, policy: string): Uint8Array =>
  Uint8Array.from(sequences.find((sequence) => sequence.policy === policy)!.actions, (name) =>
    ACTION_NAMES.indexOf(name),
  );

/** Returns the seeds of a text such as "32 from 100 to 9690": 32 evenly spaced seeds of 100 to 9999. */
function seedsIn(text: string): number[] {
  const [count, , first, , last] = text.split(' ').map(Number);
  const seeds = Array.from({ length: count }, (_, k) => 100 + Math.floor((k * 9900) / count));
  expect([seeds[0], seeds.at(-1)]).toEqual([first, last]);
  return seeds;
}

/** Plays the fresh seeds again. Returns the final scores of an action sequence or a policy. */
function scoresOf(choice: Uint8Array | 'heuristic', numEnvs: number, options: RunOptions = {}): Float32Array {
  using env = createVecEnv({ numEnvs });
  env.reset({ seed: FRESH });
  return env.run(typeof choice === 'string' ? choice : repeatActions(choice, numEnvs), options).finalScores;
}

const meanOf = (values: Float32Array): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const meanDifference = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value - b[i], 0) / a.length;

describe.skipIf(NATIVE.length === 0)('an audit', () => {
  it('gives the same result for the same seed, on other kernels and with another number of threads', async () => {
    const results = [];
    for (const [k, { backend, kernel }] of TWO_KERNELS.entries()) {
      results.push(numbersOf(await audit({ ...TINY, seed: 5, backend, kernel, threads: k + 1 })));
    }
    for (const [k, other] of results.slice(1).entries())
      expect(other, TWO_KERNELS[k + 1].kernel).toEqual(results[0]);
    // With the default seed the searches find other sequences.
    const { sequences } = await auditOnce(SMALL);
    expect(sequences).not.toEqual(results[0].sequences);
  });

  it('has the rows and action sequences of every policy, in the order in which tables list them', async () => {
    const result = await auditOnce(SMALL);
    const { rows, sequences, meanEpisodes, grader, graderWeights: weights } = result;
    const pairsOf = (policy: string) => [`exploit ${policy} none`, `exploit ${policy}+constant constant`];
    expect(rows.map(({ policy, role, belief }) => `${role} ${policy} ${belief}`)).toEqual([
      ...['baseline random none', 'baseline heuristic none'],
      ...['exploit random+constant constant', 'exploit heuristic+constant constant'],
      ...[...pairsOf('open-loop'), 'exploit open-loop+fitted fitted', ...pairsOf('open-loop-honest')],
      ...[...pairsOf('reactive'), 'exploit reactive+fitted fitted', 'exploit planner-prior own'],
      ...['random', 'heuristic', 'open-loop', 'reactive'].flatMap((policy) => [
        `null ${policy}+extreme extreme`,
        `null ${policy}+random random`,
      ]),
      ...PUSH_COMPONENTS.map((name) => `push push:${name} none`),
      ...['push push:belief_accuracy median', 'inference planner own', 'oracle open-loop+truth truth'],
      ...['oracle oracle-open-loop+constant constant', 'oracle oracle-open-loop+truth truth'],
      'oracle planner-oracle own',
    ]);
    const searched = ['open-loop', 'open-loop-honest', ...PUSH_COMPONENTS.map((name) => `push:${name}`)];
    expect(sequences.map(({ policy }) => policy)).toEqual(searched);
    expect(meanEpisodes.map(({ policy }) => policy)).toEqual([
      ...['heuristic', 'open-loop', 'open-loop-honest', 'reactive', ...searched.slice(2)],
      ...['planner', 'oracle-open-loop+truth'],
    ]);
    const varied = ['heuristic', 'reactive', 'planner', 'oracle-open-loop+truth'];
    for (const { policy, actions, isSingleSequence, rewards, bands } of meanEpisodes) {
      expect(isSingleSequence, policy).toBe(!varied.includes(policy));
      if (isSingleSequence) expect(actions).toEqual(sequenceOf(result, policy));
      for (const { length } of [rewards, bands].map(Object.keys)) expect(length).toBeGreaterThan(0);
    }
    for (const { actions, evaluations } of sequences) {
      expect(actions).toHaveLength(28);
      expect(ACTION_NAMES).toEqual(expect.arrayContaining([...actions]));
      expect(evaluations).toBeGreaterThanOrEqual(SMALL.evaluations);
    }
    expect([grader, weights.belief_accuracy]).toEqual(['v2', 0.2]);
  });

  it('names the best policy that ignores the profile, unless planner-prior leads on its few episodes', async () => {
    const result = await auditOnce(SMALL);
    const { bestBlind, rows, verdict } = result;
    const ignoring = rows.filter(({ role, episodes }) => role !== 'oracle' && episodes === 60);
    const best = Math.max(...ignoring.map(({ finalScore }) => finalScore.mean));
    expect(rowOf(result, bestBlind).finalScore.mean).toBeCloseTo(best, 12);
    expect(verdict).toContain(`by ${bestBlind});`);
  });

  it('writes its anchors, the scores without and with knowledge of the profile, to its JSON', async () => {
    const result = await auditOnce(SMALL);
    const { anchors, grader: name } = anchorsOf(JSON.parse(JSON.stringify(auditToJson(result))))!;
    expect(name).toBe('v2');
    for (const kind of ['sampled', 'discrete'] as const) {
      const { sequence, oracle, sequenceSeeds, oracleSeeds } = result.anchors[kind];
      expect(anchors[kind]).toEqual({ sequence, oracle, sequenceSeeds, oracleSeeds });
      // The sequence plays 3000 episodes, 50 times the audit's 60. The planner plays two.
      expect([sequenceSeeds, oracleSeeds]).toEqual(['20000-22999', '20000-20001']);
      expect(result.anchors[kind].actions).toHaveLength(28);
    }
    expect(result.anchors.sampled.actions).toEqual(result.sequences[0].actions);
    expect(result.anchors.discrete.actions).not.toEqual(result.anchors.sampled.actions);
    const oracle = rowOf(result, 'planner-oracle');
    expect(result.anchors.sampled.oracle).toEqual(oracle.finalScore);
  });
});

describe.skipIf(NATIVE.length === 0)('gains', () => {
  it('are paired differences on the same episodes, confirmed by playing the sequences again', async () => {
    const result = await auditOnce(SMALL);
    const heuristic = scoresOf('heuristic', 60);
    const openLoop = scoresOf(sequenceOf(result, 'open-loop'), 60);
    const honest = scoresOf(sequenceOf(result, 'open-loop-honest'), 60);
    const openLoopConstant = scoresOf(sequenceOf(result, 'open-loop'), 60, { beliefs: CONSTANT });
    const { gains } = result;
    const pairs: [number, number][] = [
      [rowOf(result, 'open-loop').finalScore.mean, meanOf(openLoop)],
      [gains.openLoop.mean, meanDifference(openLoop, heuristic)],
      // The gain of neglecting the first half.
      [gains.sandbagging.mean, meanDifference(openLoop, honest)],
      [gains.openLoopWithConstant.mean, meanDifference(openLoopConstant, heuristic)],
      [
        gains.constantBelief.mean,
        meanDifference(scoresOf('heuristic', 60, { beliefs: CONSTANT }), heuristic),
      ],
      // The gain of the push of each component.
      ...PUSH_COMPONENTS.map((name): [number, number] => [
        gains.saturation[name].mean,
        meanDifference(scoresOf(sequenceOf(result, `push:${name}`), 60), heuristic),
      ]),
    ];
    for (const [gain, expected] of pairs) expect(gain).toBeCloseTo(expected, 12);
    // Those of the planner are differences on its two episodes.
    const behind = rowOf(result, 'planner').finalScore.mean - meanOf(scoresOf('heuristic', 2));
    expect(rowOf(result, 'heuristic').behindPlanner.mean).toBeCloseTo(behind, 12);
  });

  it('of beliefs without knowledge (null players) are measured on more fresh seeds, for each policy and belief', async () => {
    const { nullPlayers } = await auditOnce(SMALL);
    // 50 times the audit's 60 episodes.
    const episodes = 50 * 60;
    expect(nullPlayers.seeds).toBe(`20000-${20_000 + episodes - 1}`);
    expect(nullPlayers.rows.map(({ policy, belief }) => `${policy} ${belief}`)).toEqual(
      ['random', 'heuristic', 'open-loop', 'open-loop-honest', 'reactive'].flatMap((policy) =>
        ['constant', 'fitted', 'extreme', 'random'].map((belief) => `${policy} ${belief}`),
      ),
    );
    // `silent` is without a belief.
    const silent = scoresOf('heuristic', episodes);
    const constant = scoresOf('heuristic', episodes, { beliefs: CONSTANT });
    const row = nullPlayers.rows.find(
      ({ policy, belief }) => policy === 'heuristic' && belief === 'constant',
    )!;
    expect(row.silent.mean).toBeCloseTo(meanOf(silent), 6);
    expect(row.gain.mean).toBeCloseTo(meanDifference(constant, silent), 6);
  });

  it.each(GRADERS)('of %s are the sums of the gains by component', async (grader) => {
    const { rows } = await auditOnce({ ...(grader === 'v2' ? SMALL : TINY), grader });
    const weights = graderWeights(grader);
    for (const { policy, belief, gain, components } of rows) {
      // Under v3 an inaccurate belief can make a score negative before it is clamped. Gains by component are not clamped.
      if (grader === 'v3' && belief !== 'none' && belief !== 'truth') continue;
      expect(Object.keys(components)).toEqual(COMPONENT_NAMES);
      const gains = COMPONENT_NAMES.map((name) => components[name].gain.mean);
      const total = gains.reduce((sum, gain) => sum + gain, 0);
      // Scores are float32s.
      expect(Math.abs(total - gain.mean), policy).toBeLessThan(1e-6);
      const scored = COMPONENT_NAMES.reduce((sum, name, k) => sum + weights[k] * components[name].mean, 0);
      expect(scored, policy).toBeCloseTo(rowOf({ rows } as Audit, policy).finalScore.mean, 6);
    }
  });

  it('of the true belief and of the actions for the profile sum to more than 0; planners play the fewest seeds', async () => {
    const { gains, rows, seeds } = await auditOnce(SMALL);
    const [withTruth] = rows.filter(({ policy }) => policy === 'oracle-open-loop+truth');
    const [constant] = rows.filter(({ policy }) => policy === 'oracle-open-loop+constant');
    expect(withTruth.finalScore.mean).toBeGreaterThan(constant.finalScore.mean);
    expect(gains.profileBelief.mean + gains.profileActions.mean).toBeGreaterThan(0);
    const counts = rows.map(({ policy, episodes }) => [
      policy.startsWith('oracle') ? 'oracle' : policy.startsWith('planner') ? 'planner' : 'other',
      episodes,
    ]);
    expect(new Set(counts.map(String))).toEqual(new Set(['other,60', 'oracle,3', 'planner,2']));
    expect([seeds.fresh, seeds.profiles, seeds.planner]).toEqual([
      '20000-20059',
      '20000-20002',
      '20000-20001',
    ]);
  });

  it('of the oracle come from action sequences found for the same profile on other seeds', async () => {
    const result = await auditOnce(SMALL);
    const otherSeeds = seedsIn(result.seeds.perProfile);
    expect(Math.max(...otherSeeds)).toBeLessThan(FRESH);
    const profiles = [0, 1, 2].map((k) => FRESH + k);
    const problems = profiles.map((seed) => ({ seeds: otherSeeds, profile: profileOf(seed) }));
    const initialSequences = sequenceOf(result, 'open-loop');
    const perProfile = await searchActionSequences(problems, { evaluations: 1000, initialSequences });
    using env = createVecEnv({ numEnvs: 3 });
    env.reset({ seed: FRESH });
    const sequences = Uint8Array.from(perProfile.flatMap(({ actions }) => [...actions]));
    const { finalScores } = env.run(sequences, { beliefs: CONSTANT });
    expect(rowOf(result, 'oracle-open-loop+constant').finalScore.mean).toBeCloseTo(meanOf(finalScores), 12);
  });
});

describe.skipIf(NATIVE.length === 0)('the honest action sequence', () => {
  it.each(THOROUGH ? ['v1', 'v2'] : ['v2'])(
    'under %s does not neglect the first half on the training seeds; the open-loop sequence does',
    async (grader) => {
      const result = await auditOnce({ ...SMALL, grader });
      const seeds = seedsIn(result.seeds.training);
      const play = (choice: Uint8Array | 'heuristic') => playProblem(choice, { seeds }, { grader });
      const [openLoop, honest] = [
        play(sequenceOf(result, 'open-loop')),
        play(sequenceOf(result, 'open-loop-honest')),
      ];
      const { firstHalfMean } = play('heuristic');
      expect(honest.firstHalfMean).toBeGreaterThanOrEqual(firstHalfMean);
      expect(openLoop.firstHalfMean).toBeLessThan(firstHalfMean);
      expect(openLoop.score).toBeGreaterThan(honest.score);
      const trained = result.sequences.map(({ trainingScore }) => trainingScore);
      expect(trained.slice(0, 2)).toEqual([openLoop.score, honest.score]);
    },
  );
});
