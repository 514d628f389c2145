/** `evaluate` with policies that are passed as values: scores, beliefs, batches, trajectories and refusals. */
import { describe, expect, it } from 'vitest';
import {
  builtin,
  type EvaluateOptions,
  evaluate,
  type PolicyFunction,
  type PolicyPlayer,
  type TrajectoryEpisode,
  withConstant,
  withInference,
} from '../../src/index.js';

const SHORT = { seeds: { first: 100, last: 108 } } as const;

/** Fewer seeds, for the planner, which takes long. */
const SHORTER = { seeds: { first: 100, last: 101 } } as const;

const rowsOf = async (policies: EvaluateOptions['policies'], options: EvaluateOptions = {}) =>
  (await evaluate({ ...SHORT, ...options, policies })).rows.map(({ policy, belief, ...row }) => ({
    ...row,
    name: belief === 'constant' ? `${policy}+constant` : policy,
  }));

/** Returns a copy of a built-in policy that chooses the action of each step, instead of playing whole episodes in one call. */
const stepped = (name: string) => ({ open: builtin(name).open });

describe('policies passed as values', () => {
  it.each([
    'random',
    'heuristic',
    'open-loop',
    'heuristic+constant',
    'heuristic+inference',
    'planner-oracle',
  ])('score as %s does', async (name) => {
    // `random` draws from the episode's seed, which only a policy with `usesHiddenState` gets.
    const copy = { ...stepped(name), usesHiddenState: ['random', 'planner-oracle'].includes(name) };
    const options = name.startsWith('planner') ? SHORTER : SHORT;
    const [mine, original] = await rowsOf({ mine: copy, [name]: builtin(name) }, options);
    expect(mine).toMatchObject({ name: 'mine', oracle: copy.usesHiddenState });
    const { oracle, sequenceGrader } = original;
    expect({ ...mine, name: original.name, oracle, sequenceGrader }).toEqual(original);
  });

  it('get beliefs from withConstant and withInference, may be functions, and may return promises', async () => {
    const sleep: PolicyFunction = ({ steps }) => ({ actions: steps.map(() => 3) });
    const rows = await rowsOf({
      ...{
        constant: withConstant(stepped('heuristic')),
        'heuristic+constant': builtin('heuristic+constant'),
      },
      ...{ inferring: withInference(stepped('heuristic')), 'heuristic+inference': 'heuristic+inference' },
      ...{ sleep, later: async (view) => sleep(view) },
    });
    for (const k of [0, 2, 4]) expect(rows[k].digest).toBe(rows[k + 1].digest);
  });

  it('state posterior means under v3, which give more belief skill than the medians under v2', async () => {
    const options = { seeds: { first: 61_000, last: 61_019 } };
    const [[median], [mean]] = await Promise.all(
      ['v2', 'v3'].map((grader) => rowsOf(['heuristic+inference'], { ...options, grader })),
    );
    expect(mean.components.beliefSkill).toBeGreaterThan(median.components.beliefSkill);
    expect(mean.components.wellbeing).toBe(median.components.wellbeing);
  });

  it('have the same row for every chunk size', async () => {
    const policies = { mine: withInference(recurrent()) };
    const [whole] = await rowsOf(policies);
    for (const chunkSize of [1, 4]) expect(await rowsOf(policies, { chunkSize })).toEqual([whole]);
  });

  it('are opened once for each batch size if their player has a method reset, else once for each batch', async () => {
    for (const [reset, opened] of [
      [undefined, 3],
      [() => {}, 2],
    ] as const) {
      const sizes: number[] = [];
      const policy = {
        open: ({ numEnvs }: { numEnvs: number }): PolicyPlayer => {
          sizes.push(numEnvs);
          return { ...(reset && { reset }), act: ({ steps }) => ({ actions: steps.map(() => 3) }) };
        },
      };
      // The batches of nine seeds have 4, 4 and 1.
      await rowsOf({ policy }, { chunkSize: 4 });
      expect(sizes).toHaveLength(opened);
    }
  });

  it('are recorded as trajectories, with their reasons', async () => {
    const episodes: TrajectoryEpisode[] = [];
    const policy = {
      open: (): PolicyPlayer => ({
        act: ({ steps }) => ({ actions: steps.map(() => 3) }),
        reasons: (i) => `Sleep, ${i}.`,
      }),
    };
    await rowsOf({ mine: policy }, { onTrajectories: (some) => episodes.push(...some) });
    expect(episodes).toHaveLength(9);
    expect(episodes[2]).toMatchObject({ teacher: 'mine', model: null, oracle: false });
    expect(episodes[2].steps[5]).toMatchObject({ action: 'sleep', reasoning: 'Sleep, 2.' });
  });

  it.each([
    [
      'the name of a built-in policy',
      { heuristic: () => ({ actions: [] }) },
      /got "heuristic" .* Pass the policy under another name/,
    ],
    ['a name with a comma', { 'a,b': () => ({ actions: [] }) }, /without a comma/],
    ['a value that is not a policy', { mine: {} as never }, /docs\/guides\/policies\.md/],
    ['an unknown name', { mine: 'planer' }, /Did you mean "planner"/],
    ['no policy', {}, /policies by name/],
  ])('are refused with %s', async (_, policies, message) => {
    await expect(rowsOf(policies as EvaluateOptions['policies'])).rejects.toThrow(message);
  });
});

/** A policy with memory: each action is the code of the last action plus 3, modulo 10. */
function recurrent() {
  return {
    open({ numEnvs }: { numEnvs: number }): PolicyPlayer {
      const last = new Uint8Array(numEnvs);
      return {
        reset({ mask }) {
          for (const [i, begins] of mask.entries()) if (begins === 1) last[i] = 0;
        },
        act: () => ({ actions: last.map((action, i) => (last[i] = (action + 3) % 10)) }),
      };
    },
  };
}
