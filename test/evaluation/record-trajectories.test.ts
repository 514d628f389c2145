/** `evaluate` with onTrajectories: the same results, and episodes that replay bit for bit. */
import { expect, it } from 'vitest';
import { POLICY_NAMES, policyName } from '../../src/agents/policies/fixed-policies.js';
import { STEPPED_NAMES } from '../../src/agents/policies/stepped-policies.js';
import { toGrader } from '../../src/engine/graders/grader.js';
import type { EvaluationRow } from '../../src/evaluation/evaluate.js';
import type { EvaluateOptions } from '../../src/evaluation/evaluate-options.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { Reevaluation } from '../../src/evaluation/reevaluation/reevaluation.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine, parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';

/** Returns the rows, and the episodes written as lines and parsed again. */
async function evaluateRecorded(options: EvaluateOptions) {
  const episodes: TrajectoryEpisode[] = [];
  const { rows } = await evaluate({ ...options, onTrajectories: (batch) => void episodes.push(...batch) });
  return { rows, episodes: episodes.map((episode) => parseEpisode(episodeLine(episode).trimEnd())) };
}

const withoutVerdict = ({ verdict: _, ...row }: EvaluationRow) => row;

/** Options of an evaluation of all fixed policies, and of all stepped policies, which read the observation of each step. */
const ALL = {
  policies: [...POLICY_NAMES, ...STEPPED_NAMES],
  seeds: { first: 7, last: 7 },
  profiles: 'discrete',
} as const;
const recorded = evaluateRecorded(ALL);

it('stepped policies give their reasons, and have the same rows as without recording', async () => {
  const { rows, episodes } = await recorded;
  // Without the planners, which take long.
  const policies = ALL.policies.filter((name) => !name.startsWith('planner'));
  // Verdicts depend on planner-prior.
  const others = rows.filter(({ policy }) => !policy.startsWith('planner')).map(withoutVerdict);
  expect(others).toEqual((await evaluate({ ...ALL, policies })).rows.map(withoutVerdict));
  await using reevaluation = await Reevaluation.open({}, [toGrader('v2')]);
  expect((await reevaluation.add(episodes)).flat()).toEqual([]);
  const stepped = episodes.filter(({ teacher }) => STEPPED_NAMES.includes(teacher));
  expect(stepped).toHaveLength(STEPPED_NAMES.length);
  for (const { steps } of stepped) {
    for (const { reasoning, belief, prompt, completion } of steps) {
      // Reasons name actions in capitals.
      expect(reasoning).toMatch(/[A-Z_]{5,} /);
      expect([belief?.length, prompt, completion]).toEqual([3, null, null]);
    }
  }
});

it('evaluate records the name, the objective and the oracle flag of every policy', async () => {
  const { rows, episodes } = await recorded;
  const players = episodes.map(({ teacher, model, objective, oracle }) => [
    teacher,
    model,
    objective,
    oracle,
  ]);
  // The objectives of the policies whose names begin with "planner", in order. The other policies have none.
  const objectives = ['score', 'wellbeing', 'score', 'score'];
  expect(players).toEqual(
    [BASELINE_FIRST, STEPPED_NAMES].flat().map((name) => {
      const k = STEPPED_NAMES.filter((each) => each.startsWith('planner')).indexOf(name);
      return [name, null, objectives[k] ?? null, name === 'planner-oracle'];
    }),
  );
  expect(new Set(players.map(([teacher]) => teacher))).toEqual(new Set(rows.map(policyName)));
  for (const { condition, profile_mode, seed, hidden } of episodes) {
    expect([condition, profile_mode, seed]).toEqual(['custom', 'discrete', 7]);
    expect(hidden?.profile).toHaveLength(16);
  }
});
/** The baseline of all comparisons plays before the others. */
const BASELINE_FIRST = ['heuristic', ...POLICY_NAMES.filter((name) => name !== 'heuristic')];

it('evaluate passes only the episodes of selected policies to the listener, by seed, and rejects with its error', async () => {
  const options = { policies: ['random+constant'], seeds: { first: 100, last: 106 }, chunkSize: 3 };
  const { episodes } = await evaluateRecorded(options);
  expect(episodes.map(({ teacher, seed }) => [teacher, seed])).toEqual(
    Array.from({ length: 7 }, (_, i) => ['random+constant', 100 + i]),
  );
  const onTrajectories = () => Promise.reject(new Error('the disk is full'));
  await expect(evaluate({ ...options, onTrajectories })).rejects.toThrow('the disk is full');
});
