/** Rows for SFT: the selected answers, their split, and the filters. */
import { describe, expect, it } from 'vitest';
import { toGrader } from '../../../src/engine/graders/grader.js';
import { createTextEnv } from '../../../src/index.js';
import { type ChatTurn, lineOfCall } from '../../../src/rollouts/text/chat.js';
import { systemText } from '../../../src/rollouts/text/prompt-text.js';
import { float32Decimal } from '../../../src/shared/float32-decimal.js';
import { splitOf } from '../../../src/training/datasets/episode-selection.js';
import {
  SFT_COLUMNS,
  type SftOptions,
  type SftRow,
  toSftPlan,
} from '../../../src/training/datasets/sft/sft-rows.js';
import { any } from '../../support/bad-calls.js';
import { expectRefusal } from '../../support/refusals.js';
import { range, recordLlm, recordWellbeing, select, wellbeingPlayer } from '../../support/sft.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../../support/trajectories.js';

const player = wellbeingPlayer;
const episodes = recordWellbeing();
const llmEpisodes = recordLlm();
const seedsOf = (rows: readonly SftRow[]): number[] => [...new Set(rows.map(({ seed }) => seed))].sort();

/** Returns the line that a message's call stands for. */
const lineOf = (turn: ChatTurn) => ('tool_calls' in turn ? lineOfCall(turn.tool_calls[0].function) : null);

describe('rows', () => {
  it('leave out answers with an unpaired surrogate', async () => {
    const prefixed = (prefix: string) => (completion: string) => `${prefix}${completion}`;
    const withSurrogate = changedAt(episodes[0], 'steps.3.completion', prefixed('\ud83d'));
    const withEmoji = changedAt(withSurrogate, 'steps.4.completion', prefixed('\u{1F4A4}'));
    const { all, mismatched, selection } = await select([withEmoji], { validation: 0 });
    expect([mismatched, selection.answersLeftOut]).toEqual([[], 1]);
    expect(all.map(({ step_index }) => step_index)).toEqual(range(0, 27).filter((step) => step !== 3));
    expect(all[3].messages[2].content).toBe(withEmoji.steps[4].completion);
  });

  it('have the prompts and answers, by episode and step', async () => {
    const { all, selection } = await select(episodes, { validation: 0 });
    expect(all).toHaveLength(30 * 28);
    for (const [k, row] of all.entries()) {
      const episode = episodes[Math.floor(k / 28)];
      const step = episode.steps[k % 28];
      expect(row).toEqual({
        messages: [
          { role: 'system', content: episode.system },
          { role: 'user', content: step.prompt },
          { role: 'assistant', content: step.completion },
        ],
        seed: episode.seed,
        profile_mode: 'sampled',
        condition: 'custom',
        step_index: k % 28,
        teacher: 'test',
        model: null,
        objective: 'wellbeing',
        final_score: float32Decimal(episode.final.final_score),
      });
    }
    expect(Object.keys(all[0])).toEqual(Object.keys(SFT_COLUMNS));
    expect(selection.answersLeftOut).toBe(0);
  });

  it.each(['conversation', 'tools'] as const)(
    'of the form %s are whole episodes, as a model plays them',
    async (form) => {
      const { all, selection } = await select(episodes, { form, validation: 0 });
      expect([all.length, selection.answersLeftOut]).toEqual([30, 0]);
      using env = createTextEnv({ history: 'new' });
      const [, first] = env.reset(episodes[0].seed);
      const [{ content }, ...turns] = all[0].messages;
      expect(content).toBe(systemText('v2', form === 'tools' ? 'tools' : 'line'));
      const shown = (text: string) => (form === 'tools' ? text.split('\n\n')[0] : text);
      let message = first;
      for (const [step, { completion }] of episodes[0].steps.entries()) {
        const [asked, answered] = turns.slice(2 * step);
        expect(asked.content).toBe(shown(message.content));
        expect(asked.role).toBe(form === 'tools' && step > 0 ? 'tool' : 'user');
        if (form === 'tools') expect([lineOf(answered)]).toEqual([completion!.split('\n').at(-1)]);
        else expect(answered).toEqual({ role: 'assistant', content: completion });
        message = env.step(completion!).message;
      }
      expect(turns).toHaveLength(2 * 28);
      expect('tools' in all[0]).toBe(form === 'tools');
    },
  );

  it('of a chat end before an answer that is left out, and begin with step 0', async () => {
    const { all, selection } = await select(llmEpisodes, { form: 'tools', objective: 'none', validation: 0 });
    const lengths = llmEpisodes.map(({ steps }) =>
      steps.findIndex(({ parsed, belief }) => !parsed || belief === null),
    );
    expect(all.map(({ messages }) => messages.length)).toEqual(
      lengths.filter((n) => n > 0).map((n) => 1 + 2 * n),
    );
    expect(selection.answersLeftOut).toBe(lengths.filter((n) => n > 0).reduce((sum, n) => sum + 28 - n, 0));
    expectRefusal(() => toSftPlan({ form: 'tools', steps: { first: 1, last: 2 } }), 'out_of_range');
    expectRefusal(() => toSftPlan(any({ form: 'chat' })), 'unknown_name');
  });

  it('leave out answers without an action or a belief', async () => {
    const { all, selection } = await select(llmEpisodes, { objective: 'none', validation: 0 });
    const usable = llmEpisodes.flatMap(({ steps }) =>
      steps.filter(({ parsed, belief }) => parsed && belief !== null),
    );
    expect(usable.length).toBeLessThan(3 * 28);
    expect(all.map(({ messages }) => messages[2].content)).toEqual(
      usable.map(({ completion }) => completion),
    );
    expect(selection.answersLeftOut).toBe(3 * 28 - usable.length);
    expect((await select(llmEpisodes, { objective: 'none', onlyParsed: true })).leftOut).toEqual({
      'answers without an action': 3,
    });
  });

  it('are of the requested steps', async () => {
    const { all } = await select(episodes, { steps: { first: 8, last: 9 }, validation: 0 });
    expect(all.map(({ step_index }) => step_index)).toEqual(episodes.flatMap(() => [8, 9]));
  });

  it('leave out episodes that differ from their replay, and episodes without prompts', async () => {
    const mismatched = changedAt(episodes[1], 'steps.4.reward', 1);
    const withoutPrompts = recordEpisodes(episodeStarts([200]), { policy: TEST_POLICIES.constant, player });
    const selected = await select([episodes[0], mismatched, ...withoutPrompts], { validation: 0 });
    expect(seedsOf(selected.all)).toEqual([100]);
    expect(selected.mismatched).toMatchObject([{ index: 1, mismatches: [{ step: 4, field: 'reward' }] }]);
    expect(selected.leftOut).toEqual({ 'not as recorded': 1, 'no usable answers': 1 });
  });
});

describe('the split', () => {
  it('puts all rows of a seed into one split', async () => {
    const others = recordEpisodes(episodeStarts(range(100, 129), 'custom', 'discrete'), { player });
    const { rows } = await select([...episodes, ...others], { validation: 0.4 });
    const [train, validation] = [seedsOf(rows.train), seedsOf(rows.validation)];
    expect([...train, ...validation].sort()).toEqual(range(100, 129));
    // Of 30 seeds, 12 are expected in the validation split. The bounds are chosen by hand.
    expect(validation.length).toBeGreaterThan(4);
    expect(train.length).toBeGreaterThan(8);
  });

  it('depends only on the seed, the share and the seed of the split', () => {
    const splitsOf = (options: SftOptions) => {
      const plan = toSftPlan(options);
      return range(100, 9999).map((seed) => splitOf(plan, seed));
    };
    const usual = splitsOf({});
    const share = usual.filter((split) => split === 'validation').length / 9900;
    expect(Math.abs(share - 0.1)).toBeLessThan(0.01);
    expect(usual).toEqual(splitsOf({ validation: 0.1, splitSeed: 0 }));
    expect(usual).not.toEqual(splitsOf({ splitSeed: 1 }));
    expect(splitsOf({ validation: 0 })).not.toContain('validation');
    // With a larger share, all validation seeds of the smaller share stay validation seeds.
    const more = splitsOf({ validation: 0.2 });
    expect(usual.every((split, k) => split === 'train' || more[k] === 'validation')).toBe(true);
  });
});

describe('filters', () => {
  const oracle = recordEpisodes(episodeStarts([100]), { player: { ...player, oracle: true } });
  const scoreEpisodes = recordEpisodes(episodeStarts([100]), { player: playerOf({ objective: 'score' }) });

  it('accept the objective wellbeing, or another objective if an option names it', async () => {
    const all = [...episodes.slice(0, 2), ...scoreEpisodes, ...llmEpisodes];
    expect((await select(all)).leftOut).toEqual({ 'another objective': 4 });
    expect(seedsOf((await select(all)).all)).toEqual([100, 101]);
    const score = await select(all, { objective: 'score' });
    expect([seedsOf(score.all), score.leftOut]).toEqual([[100], { 'another objective': 5 }]);
  });

  it('leave out episodes of teachers that used hidden state, unless an option allows them', async () => {
    expect((await select(oracle)).leftOut).toEqual({ 'used hidden state': 1 });
    const { all, card, selection } = await select([...oracle, episodes[0]], { allowOracle: true });
    expect([all.length, selection.teachers.length]).toEqual([2 * 28, 2]);
    expect(card.match(/\[oracle\]/g)).toHaveLength(1);
  });

  it.each<[string, SftOptions, number]>([
    ['another seed', { seeds: { first: 110, last: 9999 } }, 10],
    ['another seed', { seeds: { first: 100, last: 119 } }, 10],
    ['another teacher', { teacher: ['me', 'you'] }, 30],
    ['another model', { model: ['m'] }, 30],
    ['another condition', { conditions: ['ood'] }, 30],
  ])('leave out episodes: %s', async (why, options, count) => {
    expect((await select(episodes, options)).leftOut).toEqual({ [why]: count });
  });

  it('select by final score, margin over heuristic+constant, and belief error', async () => {
    const constant = recordEpisodes(episodeStarts(range(100, 129)), { policy: TEST_POLICIES.constant });
    const scores = episodes.map(({ final }) => final.final_score);
    const margins = scores.map((score, i) => score - constant[i].final.final_score);
    const count = (values: readonly number[], passes: (value: number) => boolean) =>
      values.filter(passes).length;
    const numSelected = async (options: SftOptions) => seedsOf((await select(episodes, options)).all).length;
    const median = (values: readonly number[]): number => Float64Array.from(values).sort()[15];
    expect(await numSelected({ minScore: median(scores) })).toBe(
      count(scores, (score) => score >= median(scores)),
    );
    expect(await numSelected({ minMargin: median(margins) })).toBe(
      count(margins, (margin) => margin >= median(margins)),
    );
    const errors = episodes.map(({ final }) => final.belief_mae);
    expect(await numSelected({ maxBeliefError: median(errors) })).toBe(
      count(errors, (error) => error <= median(errors)),
    );
    expect(await numSelected({ minScore: 0, minMargin: -1, maxBeliefError: 1 })).toBe(30);
    // Grader v1 ignores beliefs, and these episodes differ from heuristic+constant only in their beliefs.
    expect(await numSelected({ minMargin: 0.001, grader: toGrader('v1') })).toBe(0);
    // The beliefs differ little from the constant belief, so margins are small.
    expect(await numSelected({ minMargin: 0.05 })).toBe(0);
  });
});
