/** `evaluate` with a listener for trajectories: the same results, and weeks that replay bit for bit. */
import { describe, expect, it } from 'vitest';
import { evaluate } from '../src/evaluate/evaluate.js';
import type { EvaluateOptions } from '../src/evaluate/options.js';
import { toGrader } from '../src/graders/grader.js';
import { POLICY_NAMES, policyName } from '../src/policies/policies.js';
import { STEPPED_NAMES } from '../src/policies/stepped.js';
import { Reevaluation } from '../src/reeval/reevaluation.js';
import type { TrajectoryEpisode } from '../src/trajectory/episode.js';
import { episodeKey, episodeLine } from '../src/trajectory/line.js';
import { parseEpisode } from '../src/trajectory/read.js';
import { ENGINES } from './support/engines.js';

/** Rows, and episodes as a file would hold them. */
async function recorded(options: EvaluateOptions) {
  const episodes: TrajectoryEpisode[] = [];
  const { rows } = await evaluate({ ...options, onTrajectories: (some) => void episodes.push(...some) });
  return { rows, episodes: episodes.map((episode) => parseEpisode(episodeLine(episode).trimEnd())) };
}

function mismatchesOf(episodes: readonly TrajectoryEpisode[]) {
  using reevaluation = new Reevaluation({}, [toGrader('v2')]);
  return reevaluation.add(episodes).flat();
}

describe.each(ENGINES)('on $name', ({ backend, kernel }) => {
  it('every quick policy, under every condition and either grader', async () => {
    for (const grader of ['v1', 'v2']) {
      const options = { episodes: 3, grader, backend, kernel };
      const { rows, episodes } = await recorded(options);
      expect(rows).toEqual((await evaluate(options)).rows);
      expect(episodes).toHaveLength(rows.reduce((sum, row) => sum + row.episodes, 0));
      expect(mismatchesOf(episodes)).toEqual([]);
      expect(new Set(episodes.map(episodeKey)).size).toBe(episodes.length);
      expect(new Set(episodes.map((episode) => episode.grader.name))).toEqual(new Set([grader]));
    }
  });
});

it('policies that are asked at each step give their reasons, and play as without', async () => {
  const options = { policies: STEPPED_NAMES, conditions: ['discrete:workaholic_stoic'], episodes: 2 };
  const { rows, episodes } = await recorded(options);
  expect(rows).toEqual((await evaluate(options)).rows);
  expect(mismatchesOf(episodes)).toEqual([]);
  for (const { steps } of episodes) {
    for (const { reasoning, belief, prompt, completion } of steps) {
      expect(reasoning).toMatch(/[A-Z_]{5,} /);
      expect([belief?.length, prompt, completion]).toEqual([3, null, null]);
    }
  }
});

it('says who played as the table does, what it wanted, and whether it was shown the persons', async () => {
  const policies = [...POLICY_NAMES, ...STEPPED_NAMES];
  const { rows, episodes } = await recorded({ policies, seeds: { first: 7, last: 7 }, profiles: 'discrete' });
  const said = episodes.map(({ teacher, model, objective, oracle }) => [teacher, model, objective, oracle]);
  const wanted = ['score', 'wellbeing', 'score', 'score'];
  expect(said).toEqual(
    [BASELINE_FIRST, STEPPED_NAMES].flat().map((name) => {
      const k = STEPPED_NAMES.filter((each) => each.startsWith('planner')).indexOf(name);
      return [name, null, wanted[k] ?? null, name === 'planner-oracle'];
    }),
  );
  expect(new Set(said.map(([teacher]) => teacher))).toEqual(new Set(rows.map(policyName)));
  for (const { condition, profile_mode, seed, hidden } of episodes) {
    expect([condition, profile_mode, seed]).toEqual(['custom', 'discrete', 7]);
    expect(hidden?.profile).toHaveLength(16);
  }
});
/** The baseline of all comparisons plays before the others. */
const BASELINE_FIRST = ['heuristic', ...POLICY_NAMES.filter((name) => name !== 'heuristic')];

it('hands over the episodes of a policy in the order of their seeds, and none of who was not asked for', async () => {
  const { episodes } = await recorded({
    policies: ['random+constant'],
    seeds: { first: 100, last: 106 },
    chunkSize: 3,
  });
  expect(episodes.map(({ teacher, seed }) => [teacher, seed])).toEqual(
    Array.from({ length: 7 }, (_, i) => ['random+constant', 100 + i]),
  );
});

it('waits for a listener, and passes its failure on', async () => {
  const failing = evaluate({ onTrajectories: () => Promise.reject(new Error('the disk is full')) });
  await expect(failing).rejects.toThrow('the disk is full');
});
