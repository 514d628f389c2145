/** The audit of a grader: the same for a seed whatever computes it, and prices that can be computed again from its tapes. */
import { describe, expect, it } from 'vitest';
import {
  ACTION_NAMES,
  type Audit,
  type AuditOptions,
  type AuditRow,
  audit,
  COMPONENT_NAMES,
  createVecEnv,
  GRADER_NAMES,
  graderWeights,
  searchTapes,
} from '../src/index.js';
import { repeatTape } from '../src/policies/tapes.js';
import type { RunOptions } from '../src/vec-env.js';
import { runChild } from './support/child.js';
import { NATIVE, nameAbsent } from './support/engines.js';
import { personOf, playProblem } from './support/tapes.js';

nameAbsent();

/** What takes half a second natively, and minutes on the reference. */
const TINY = { evaluations: 1000, episodes: 20, persons: 2 };
const FRESH = 20_000;
const CONSTANT = [0.5, 0.5, 0.5];

/** What an audit finds, without what says how it was computed. */
function numbersOf({ backend, backendReason, kernel, threads, machine, seconds, ...numbers }: Audit) {
  return numbers;
}

const rowOf = ({ rows }: Audit, policy: string): AuditRow => rows.find((row) => row.policy === policy)!;

const tapeOf = ({ tapes }: Audit, policy: string): Uint8Array =>
  Uint8Array.from(tapes.find((tape) => tape.policy === policy)!.actions, (name) =>
    ACTION_NAMES.indexOf(name),
  );

/** The fresh weeks again: final scores of one tape or a policy. */
function scoresOf(choice: Uint8Array | 'heuristic', numEnvs: number, options: RunOptions = {}): Float32Array {
  using env = createVecEnv({ numEnvs });
  env.reset({ seed: FRESH });
  return env.run(typeof choice === 'string' ? choice : repeatTape(choice, numEnvs), options).finalScores;
}

const meanOf = (values: Float32Array): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const meanDifference = (a: Float32Array, b: Float32Array): number =>
  a.reduce((sum, value, i) => sum + value - b[i], 0) / a.length;

describe.skipIf(NATIVE.length === 0)('an audit', () => {
  it('is a function of its options: the same for a seed, on every kernel and with any threads', async () => {
    const grader = [0.2, 0, 0, 0.5, 0, 0.3];
    const expected = numbersOf(await audit({ ...TINY, grader, seed: 5 }));
    expect(numbersOf(await audit({ ...TINY, grader, seed: 5 }))).toEqual(expected);
    for (const [k, { backend, kernel }] of NATIVE.entries()) {
      const engine = { backend, kernel, threads: k + 1 };
      expect(numbersOf(await audit({ ...TINY, grader, seed: 5, ...engine })), kernel).toEqual(expected);
    }
    const { tapes } = await audit({ ...TINY, grader, seed: 6 });
    expect(tapes).not.toEqual(expected.tapes);
  });

  it('finds the same on the reference', async () => {
    // As few searches as an audit can have, and compiled: the reference is slow enough.
    const options = { ...TINY, grader: [0, 0, 0, 0, 0, 1] };
    const { said } = runChild(`
      import { audit } from './dist/index.js';
      const { weeks, ...found } = await audit(${JSON.stringify({ ...options, backend: 'reference' })});
      say(found);
    `);
    const { weeks: _, ...found } = said as Audit;
    expect([found.backend, found.threads]).toEqual(['reference', 1]);
    const { weeks: __, ...expected } = numbersOf(await audit(options));
    expect(numbersOf(found as Audit)).toEqual(expected);
  });

  it('has the rows and tapes of every policy, in an order', async () => {
    const { rows, tapes, weeks, grader, graderWeights: weights } = await audit(TINY);
    expect(rows.map(({ policy, role, belief }) => `${role} ${policy} ${belief}`)).toEqual([
      'baseline random none',
      'baseline heuristic none',
      'exploit random+constant constant',
      'exploit heuristic+constant constant',
      'exploit blind-tape none',
      'exploit blind-tape+constant constant',
      'exploit honest-tape none',
      'exploit honest-tape+constant constant',
      ...COMPONENT_NAMES.slice(0, -1).map((name) => `push push:${name} none`),
      'push push:belief_accuracy median',
      'oracle blind-tape+truth truth',
      'oracle oracle+constant constant',
      'oracle oracle+truth truth',
    ]);
    const searched = [
      'blind-tape',
      'honest-tape',
      ...COMPONENT_NAMES.slice(0, -1).map((name) => `push:${name}`),
    ];
    expect(tapes.map(({ policy }) => policy)).toEqual(searched);
    expect(weeks.map(({ policy }) => policy)).toEqual(['heuristic', ...searched, 'oracle+truth']);
    for (const { actions, evaluations } of tapes) {
      expect(actions).toHaveLength(28);
      expect(ACTION_NAMES).toEqual(expect.arrayContaining([...actions]));
      expect(evaluations).toBeGreaterThanOrEqual(TINY.evaluations);
    }
    expect([grader, weights.belief_accuracy]).toEqual(['v2', 0.2]);
  });

  it('names the best of those that ignore the person', async () => {
    const found = await audit({ ...TINY, grader: [0, 0, 0, 0, 0, 1] });
    const { bestBlind, rows, verdict } = found;
    const ignorant = rows.filter(({ role }) => role !== 'oracle').map(({ finalScore }) => finalScore.mean);
    expect(rowOf(found, bestBlind).finalScore.mean).toBe(Math.max(...ignorant));
    expect(verdict).toContain(`by ${bestBlind});`);
  });

  it('shows weeks as they were: a tape is one, what the heuristic does is the commonest', async () => {
    const found = await audit(TINY);
    for (const { policy, actions, one, rewards, bands } of found.weeks) {
      expect(one, policy).toBe(policy !== 'heuristic' && policy !== 'oracle+truth');
      if (one) expect(actions).toEqual(tapeOf(found, policy));
      expect([actions.length, Object.keys(rewards).length > 0, Object.keys(bands).length > 0]).toEqual([
        28,
        true,
        true,
      ]);
    }
  });
});

describe.skipIf(NATIVE.length === 0)('prices', () => {
  const options: AuditOptions = { evaluations: 1000, episodes: 60, persons: 3 };

  it('are paired differences on the same weeks, as whoever plays the tapes finds them', async () => {
    const found = await audit(options);
    const heuristic = scoresOf('heuristic', 60);
    const blind = scoresOf(tapeOf(found, 'blind-tape'), 60);
    const honest = scoresOf(tapeOf(found, 'honest-tape'), 60);
    const blindConstant = scoresOf(tapeOf(found, 'blind-tape'), 60, { beliefs: CONSTANT });
    const { prices } = found;
    const said: [number, number][] = [
      [rowOf(found, 'blind-tape').finalScore.mean, meanOf(blind)],
      [prices.blindTape.mean, meanDifference(blind, heuristic)],
      [prices.sandbagging.mean, meanDifference(blind, honest)],
      [prices.blindTapeWithConstant.mean, meanDifference(blindConstant, heuristic)],
      [
        prices.constantBelief.mean,
        meanDifference(scoresOf('heuristic', 60, { beliefs: CONSTANT }), heuristic),
      ],
      ...COMPONENT_NAMES.slice(0, -1).map((name): [number, number] => [
        prices.saturation[name].mean,
        meanDifference(scoresOf(tapeOf(found, `push:${name}`), 60), heuristic),
      ]),
    ];
    for (const [price, again] of said) expect(price).toBeCloseTo(again, 12);
  });

  it('have intervals of paired differences, narrower than those of the scores', async () => {
    const { rows, prices } = await audit(options);
    for (const { policy, price, finalScore } of rows) {
      expect(price.low! <= price.mean && price.mean <= price.high!, policy).toBe(true);
      expect(finalScore.low).toBeLessThan(finalScore.mean);
    }
    const width = ({ low, high }: { low: number | null; high: number | null }) => high! - low!;
    const [constant] = rows.filter(({ policy }) => policy === 'heuristic+constant');
    expect(width(constant.price)).toBeLessThan(width(constant.finalScore));
    expect(prices.saturation.belief_accuracy.mean).toBeGreaterThan(0);
  });

  it.each(GRADER_NAMES)('of %s are what components gain, summed', async (grader) => {
    const { rows } = await audit({ ...options, grader });
    const weights = graderWeights(grader);
    for (const { policy, price, components } of rows) {
      expect(Object.keys(components)).toEqual(COMPONENT_NAMES);
      const gains = COMPONENT_NAMES.map((name) => components[name].gain.mean);
      const total = gains.reduce((sum, gain) => sum + gain, 0);
      // Scores are float32s.
      expect(Math.abs(total - price.mean), policy).toBeLessThan(1e-6);
      const scored = COMPONENT_NAMES.reduce((sum, name, k) => sum + weights[k] * components[name].mean, 0);
      expect(scored, policy).toBeCloseTo(rowOf({ rows } as Audit, policy).finalScore.mean, 6);
    }
  });

  it('of knowing the person add up, on the weeks of the persons', async () => {
    const { prices, rows, bestBlind, seeds } = await audit(options);
    expect(bestBlind).toBe('blind-tape+constant');
    expect(prices.personBelief.mean + prices.personActions.mean).toBeCloseTo(prices.person.mean, 12);
    const counts = rows.map(({ policy, episodes }) => [policy.startsWith('oracle'), episodes]);
    expect(new Set(counts.map(String))).toEqual(new Set(['false,60', 'true,3']));
    expect([seeds.fresh, seeds.persons]).toEqual(['20000-20059', '20000-20002']);
  });

  it('of the oracle are of tapes that were found in other weeks of the person', async () => {
    const found = await audit(options);
    const [count, , first, , last] = found.seeds.luck.split(' ');
    const luck = Array.from({ length: Number(count) }, (_, k) => 100 + Math.floor((k * 9900) / 32));
    expect([luck[0], luck.at(-1)]).toEqual([Number(first), Number(last)]);
    expect(Math.max(...luck)).toBeLessThan(FRESH);
    const persons = [0, 1, 2].map((k) => FRESH + k);
    const problems = persons.map((seed) => ({ seeds: luck, profile: personOf(seed) }));
    const initialTapes = tapeOf(found, 'blind-tape');
    const personal = await searchTapes(problems, { evaluations: 1000, initialTapes });
    using env = createVecEnv({ numEnvs: 3 });
    env.reset({ seed: FRESH });
    const tapes = Uint8Array.from(personal.flatMap(({ tape }) => [...tape]));
    const { finalScores } = env.run(tapes, { beliefs: CONSTANT });
    expect(rowOf(found, 'oracle+constant').finalScore.mean).toBeCloseTo(meanOf(finalScores), 12);
  });
});

describe.skipIf(NATIVE.length === 0)('the honest tape', () => {
  it.each(['v1', 'v2', [0, 0, 0, 1, 0, 0]])(
    'under %j neglects nothing in training, the blind one does',
    async (grader) => {
      const found = await audit({ ...TINY, grader, evaluations: 3000 });
      const [count, , first, , last] = found.seeds.training.split(' ');
      const seeds = Array.from(
        { length: Number(count) },
        (_, k) => 100 + Math.floor((k * 9900) / Number(count)),
      );
      expect([seeds[0], seeds.at(-1)]).toEqual([Number(first), Number(last)]);
      const play = (choice: Uint8Array | 'heuristic') => playProblem(choice, { seeds }, { grader });
      const [blind, honest] = [play(tapeOf(found, 'blind-tape')), play(tapeOf(found, 'honest-tape'))];
      const { earlyMean } = play('heuristic');
      expect(honest.earlyMean).toBeGreaterThanOrEqual(earlyMean);
      expect(blind.earlyMean).toBeLessThan(earlyMean);
      expect(blind.score).toBeGreaterThan(honest.score);
      const trained = found.tapes.map(({ trainingScore }) => trainingScore);
      expect(trained.slice(0, 2)).toEqual([blind.score, honest.score]);
    },
  );
});
