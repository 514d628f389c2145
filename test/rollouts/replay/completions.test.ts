/** Replay scoring of completions gives the scores of their parsed answers. */
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, parseCompletion, parseCompletions, scoreReplay } from '../../../src/index.js';
import { expectRefusal } from '../../support/refusals.js';

const TEXTS = [
  '7 5 4 EXERCISE',
  '<reasoning>EXERCISE</reasoning>\n0 9 3 sleep',
  'SLEEP',
  '5 5 5',
  'no answer',
  '',
];
const STATE = { seed: 4242, actionHistory: ['sleep', 'deep_work'] };

const columns = () => ({
  seeds: new Uint32Array(TEXTS.length).fill(STATE.seed),
  stepIndices: new Uint8Array(TEXTS.length),
  histories: new Uint8Array(TEXTS.length * 28),
});

describe('scoreReplay of completions', () => {
  it('in row objects has the scores of the parsed answers', () => {
    const parsed = TEXTS.map((text) => {
      const { action, belief, given } = parseCompletion(text);
      return { ...STATE, action, belief: given ? belief : null };
    });
    const found = scoreReplay(TEXTS.map((completion) => ({ ...STATE, completion })));
    expect(found).toEqual(scoreReplay(parsed));
    expect(found.faults).toEqual([]);
    // 1 for an answer with a belief and an action, -2 for the third, which has no belief.
    expect([...found.rewards.formatValid].slice(0, 3)).toEqual([1, 1, -2]);
    // The fifth text has no action, so there is no step.
    expect(found.stepRewards[4]).toBeNaN();
  });

  it('that begin inside a thought has the scores of the answers after it', () => {
    const texts = ['hm\n5 5 5 SLEEP\nwould', 'hm\n5 5 5 SLEEP\n</think>0 9 3 LEARN'];
    const { action, belief } = parseCompletion('0 9 3 LEARN');
    const expected = scoreReplay([
      { ...STATE, action: null },
      { ...STATE, action, belief },
    ]);
    const rows = texts.map((completion) => ({ ...STATE, completion }));
    expect(scoreReplay(rows, { thought: 'open' })).toEqual(expected);
    expect(scoreReplay(rows).stepRewards[0]).not.toBeNaN();
    const histories = new Uint8Array(2 * 28);
    for (const i of [0, 1])
      histories.set(
        STATE.actionHistory.map((name) => ACTION_NAMES.indexOf(name as never)),
        i * 28,
      );
    const states = {
      seeds: new Uint32Array(2).fill(STATE.seed),
      stepIndices: Uint8Array.of(2, 2),
      histories,
    };
    expect(scoreReplay({ ...states, completions: texts }, { thought: 'open' })).toEqual(expected);
    expectRefusal(() => scoreReplay(rows, { thought: 'opened' as never }), 'unknown_name', 'thought');
  });

  it('in columns has the scores of the parsed answers', () => {
    const { actions, beliefs } = parseCompletions(TEXTS, { noBelief: 'nan' });
    const found = scoreReplay({ ...columns(), completions: TEXTS });
    expect(found).toEqual(scoreReplay({ ...columns(), actions, beliefs }));
  });

  it('accepts rows with completions beside rows with parsed answers', () => {
    const { stepRewards } = scoreReplay([
      { ...STATE, completion: '5 5 5 SLEEP' },
      { ...STATE, action: 'sleep' },
    ]);
    expect(stepRewards[0]).toBe(stepRewards[1]);
  });

  it('reports a row whose completion is not a string, and a row with a completion and an action', () => {
    const rows = [
      { completion: 5 },
      { completion: [{ role: 'assistant', content: 'SLEEP' }] },
      { completion: 'SLEEP', action: 0 },
    ];
    const { faults } = scoreReplay(rows.map((row) => ({ ...STATE, ...row })) as never);
    expect(faults.map(({ index, code }) => [index, code])).toEqual([
      [0, 'wrong_type'],
      [1, 'wrong_type'],
      [2, 'unknown_option'],
    ]);
  });

  it('refuses columns with both completions and actions or with neither, and completions of another length or type', () => {
    const actions = new Int8Array(TEXTS.length);
    const score = (rows: object) => () => scoreReplay({ ...columns(), ...rows } as never);
    expectRefusal(score({ completions: TEXTS, actions }), 'unknown_option', 'both');
    expectRefusal(score({ completions: TEXTS.slice(1) }), 'wrong_length', 'completions');
    expectRefusal(score({ completions: 'SLEEP' }), 'wrong_type');
    expectRefusal(score({}), 'wrong_type', 'actions');
  });
});
