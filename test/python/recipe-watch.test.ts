/** The recipe's watch on planted steps, its settings, and what it reads in an answer. Needs Python, and no package. */
import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { parseCompletion } from '../../src/index.js';
import { ACTION_NAMES } from '../../src/world/fields.js';
import { askPython, whyAbsent } from '../support/python.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const SCRIPT = 'recipe/watching.py';

interface Batch {
  readonly texts: readonly string[];
  readonly legal: readonly boolean[];
  readonly cut_off: readonly boolean[];
}

interface Step {
  readonly logged?: Readonly<Record<string, number | null>>;
  readonly batch?: Batch;
}

interface Question {
  readonly limits: Readonly<Record<string, number | readonly string[]>>;
  readonly past: readonly object[];
  readonly steps: readonly Step[];
  readonly texts: readonly string[];
}

interface Watched {
  readonly warned: readonly { pitfall: string; step: number; value: number; text: string }[];
  readonly stops: readonly (readonly string[])[];
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly summary: Readonly<Record<string, { first_step: number; steps: number; worst: number | null }>>;
  readonly words: string;
  readonly actions: readonly (string | null)[];
  readonly log: readonly object[];
  readonly names: readonly string[];
  readonly table: string;
}

const EMPTY: Question = { limits: {}, past: [], steps: [], texts: [] };
const absent = whyAbsent('python', '3.9 or later', SCRIPT, EMPTY);
if (absent !== null) test.skip(`the recipe's watch: NOT RUN here: ${absent}`, () => {});

const watched = (question: Partial<Question>): Watched => askPython(SCRIPT, { ...EMPTY, ...question });

const WINDOW = 4;
const limits = { window: WINDOW };
const NAMES = ACTION_NAMES.map((name) => name.toUpperCase());

/** Completions that the server reads, and that ended by themselves. */
const answers = (...names: string[]): Batch => ({
  texts: names.map((name) => `5 5 5 ${name}`),
  legal: names.map(() => true),
  cut_off: names.map(() => false),
});
const times = (count: number, ...names: string[]): string[] => Array(count).fill(names).flat();
const repeated = <T>(count: number, value: T): T[] => Array(count).fill(value);

const HEALTHY: Step = {
  logged: { frac_reward_zero_std: 0.1, 'completions/clipped_ratio': 0, kl: 0.02, reward: 1 },
  batch: answers(...NAMES),
};
const withLog = (logged: Step['logged']): Step => ({ ...HEALTHY, logged: { ...HEALTHY.logged, ...logged } });
const withBatch = (batch: Batch): Step => ({ ...HEALTHY, batch });

describe.runIf(absent === null)("the recipe's watch", () => {
  it('says nothing of a healthy run', () => {
    const { warned, words, lines } = watched({ limits, steps: repeated(3 * WINDOW, HEALTHY) });
    expect(warned).toEqual([]);
    expect(words).toBe(`No pitfall in ${3 * WINDOW} steps.`);
    expect(lines[0]).toMatchObject({ step: 1, one_action: 0.1, unparsed: 0, kl: 0.02, zero_spread: 0.1 });
    expect(lines[0].entropy).toBeCloseTo(Math.log2(10), 12);
  });

  it.each([
    ['zero_spread', withLog({ frac_reward_zero_std: 0.75 }), 0.75, 'no reward spread'],
    ['one_action', withBatch(answers(...times(9, 'SLEEP'), 'LEARN')), 0.9, 'SLEEP 90%, LEARN 10%'],
    ['cycle', withBatch(answers(...times(5, 'SLEEP', 'MEDITATE'))), 1, 'SLEEP 50%, MEDITATE 50%'],
    ['cut_off', withLog({ 'completions/clipped_ratio': 0.5 }), 0.5, '--grpo-completion-length'],
    [
      'unparsed',
      withBatch({ ...answers(...NAMES), legal: NAMES.map((_, k) => k < 4) }),
      0.6,
      'hold no action',
    ],
    [
      'cut_off_read',
      withBatch({ ...answers(...NAMES), cut_off: NAMES.map((_, k) => k === 0) }),
      0.1,
      'middle',
    ],
  ])(
    'tells %s once a window is full of it, once while it lasts, and of nothing else',
    (name, step, value, words) => {
      // A log without TRL's own ratio: that of the completions counts then.
      const { 'completions/clipped_ratio': _, ...logged } = step.logged!;
      const planted = name === 'cut_off_read' ? { ...step, logged } : step;
      const steps = [...repeated(2 * WINDOW, planted), ...repeated(2 * WINDOW, HEALTHY)];
      const { warned, summary, words: told } = watched({ limits, steps });
      expect(warned.map(({ pitfall, step: at }) => [pitfall, at])).toEqual([[name, WINDOW]]);
      expect(warned[0].value).toBeCloseTo(value, 12);
      expect(warned[0].text).toContain(words);
      expect(warned[0].text).toMatch(new RegExp(`^step ${WINDOW}: ${name}: `));
      expect(Object.keys(summary)).toEqual([name]);
      expect(summary[name].first_step).toBe(WINDOW);
      expect(summary[name].steps).toBeGreaterThan(WINDOW);
      expect(summary[name].steps).toBeLessThan(3 * WINDOW);
      expect(told).toContain(`${name}: ${summary[name].steps} of ${steps.length} steps, first at ${WINDOW}`);
    },
  );

  it('tells a KL that blows up in the step in which it does, and stops if it is to', () => {
    const steps = [...repeated(2, HEALTHY), withLog({ kl: 10_731 }), withLog({ kl: null }), HEALTHY];
    const { warned, stops, summary, words } = watched({
      limits: { ...limits, stop_on: ['kl', 'cycle'] },
      steps,
    });
    expect(warned.map(({ pitfall, step }) => [pitfall, step])).toEqual([['kl', 3]]);
    expect(warned[0].text).toContain('10,731.0');
    expect(stops).toEqual([[], [], ['kl'], ['kl'], []]);
    // NaN, which TRL logs as null, is worse than any number.
    expect(summary.kl).toMatchObject({ first_step: 3, steps: 2, worst: null, worst_step: 4 });
    expect(words).toContain('worst inf at 4');
  });

  it('does not stop at what it is not to stop at', () => {
    const steps = repeated(WINDOW, withLog({ frac_reward_zero_std: 1 }));
    expect(watched({ limits: { ...limits, stop_on: ['kl'] }, steps }).stops.flat()).toEqual([]);
    expect(watched({ limits: { ...limits, stop_on: ['zero_spread'] }, steps }).stops.flat()).toEqual([
      'zero_spread',
    ]);
  });

  it('calls a few answers no collapse', () => {
    const few = withBatch({ ...answers('SLEEP', 'LEARN'), legal: [true, false] });
    const names = watched({ limits: { ...limits, unparsed: 1 }, steps: repeated(12, few) }).warned;
    expect(names).toEqual([]);
  });

  it('goes on with the lines of a run that was resumed, a torn one left out', () => {
    const collapsing = withBatch(answers(...times(10, 'SLEEP')));
    const steps = [...repeated(3, HEALTHY), ...repeated(6, collapsing)];
    const whole = watched({ limits, steps });
    expect(whole.warned.map(({ pitfall }) => pitfall)).toEqual(['one_action']);
    const past = whole.lines.slice(0, 5);
    const resumed = watched({ limits, past, steps: steps.slice(5) });
    expect(resumed.lines).toEqual(whole.lines);
    expect(whole.log).toEqual(whole.lines.slice(0, -1));
  });

  it('names the action of whatever the server reads one in', () => {
    const texts = [
      ...NAMES.map((name) => `<reasoning>SLEEP would do, LEARN is better.</reasoning>\n1 2 3 ${name}`),
      ...['5 5 5 exercise.', 'Answer: 4 6 5 DEEP_WORK', 'ME_TIME', 'SLEEP\n\n0 0 9 Binge_Watch\n'],
    ];
    const { actions, names } = watched({ texts: [...texts, 'I would rather not.'] });
    expect(actions.slice(0, -1)).toEqual(
      texts.map((text) => parseCompletion(text).actionName?.toUpperCase()),
    );
    expect(actions.at(-1)).toBeNull();
    expect(names).toEqual(NAMES);
  });

  it('names packages that are missing before it begins anything', () => {
    expect(askPython('recipe/missing.py', {})).toEqual({
      says: expect.stringMatching(
        /^error: Expected the packages torch, trl, got .* without torch, trl\. Run: pip install "trl/,
      ),
      begun: false,
    });
  });

  it('has the settings of its page', () => {
    const { table } = watched({});
    expect(table.split('\n').length).toBeGreaterThan(30);
    expect(read('python/recipe/README.md')).toContain(`\n\n${table}\n\n`);
  });
});

describe('the recipe as it is written about', () => {
  it('installs in a job what CI installs', () => {
    const [, header] = /^# \/\/\/ script\n([\s\S]*?)^# \/\/\/$/m.exec(read('python/recipe/train.py'))!;
    for (const [wanted] of read('.ci/run').matchAll(/"(?:trl|peft)[>=<\d.,]+"/g))
      expect(header).toContain(wanted);
    expect(header).toContain('requires-python = ">=3.10"');
  });

  it('is in the package', () => {
    const { files } = JSON.parse(read('package.json'));
    expect(files).toEqual(
      expect.arrayContaining(['python/*.py', 'python/recipe/*.py', 'python/recipe/README.md']),
    );
  });
});
