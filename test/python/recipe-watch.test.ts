/**
 * Tests that the recipe's watch warns of pitfalls in training. The training steps are constructed. Also tests the recipe's
 * settings, and how it finds actions in answers. Needs Python, but no packages.
 */
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

interface WatchResult {
  readonly warnings: readonly { pitfall: string; step: number; value: number; text: string }[];
  readonly stops: readonly (readonly string[])[];
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  readonly summary: Readonly<Record<string, { first_step: number; steps: number; worst: number | null }>>;
  readonly text: string;
  readonly actions: readonly (string | null)[];
  readonly log: readonly object[];
  readonly table: string;
  readonly missing: readonly [error: string, started: boolean];
}

const EMPTY: Question = { limits: {}, past: [], steps: [], texts: [] };
const absent = whyAbsent('python', '3.9 or later', SCRIPT, []);
if (absent !== null) test.skip(`the recipe: NOT RUN here: ${absent}`, () => {});

/** Passes steps to a `Watch` for each question, in one process. */
const watched = (...questions: Partial<Question>[]): WatchResult[] =>
  askPython(
    SCRIPT,
    questions.map((question) => ({ ...EMPTY, ...question })),
  );

const WINDOW = 4;
const limits = { window: WINDOW };
const NAMES = ACTION_NAMES.map((name) => name.toUpperCase());

/** Completions that parse and have an end token. */
const answers = (...names: string[]): Batch => ({
  texts: names.map((name) => `5 5 5 ${name}`),
  legal: names.map(() => true),
  cut_off: names.map(() => false),
});
const repeatNames = (count: number, ...names: string[]): string[] => Array(count).fill(names).flat();
const repeat = <T>(count: number, value: T): T[] => Array(count).fill(value);

const HEALTHY: Step = {
  logged: { frac_reward_zero_std: 0.1, kl: 0.02, reward: 1 },
  batch: answers(...NAMES),
};
/** Half of the answers are cut off and have no action. */
const HALF_CUT_OFF = { legal: NAMES.map((_, k) => k >= 5), cut_off: NAMES.map((_, k) => k < 5) };
const withLog = (logged: Step['logged']): Step => ({ ...HEALTHY, logged: { ...HEALTHY.logged, ...logged } });
const withBatch = (batch: Batch): Step => ({ ...HEALTHY, batch });

describe.runIf(absent === null)('the recipe', () => {
  it('has no warning for a healthy run', () => {
    const [{ warnings, text, lines }] = watched({ limits, steps: repeat(3 * WINDOW, HEALTHY) });
    expect(warnings).toEqual([]);
    expect(text).toBe(`No pitfall in ${3 * WINDOW} steps.`);
    expect(lines[0]).toMatchObject({ step: 1, one_action: 0.1, unparsed: 0, kl: 0.02, zero_spread: 0.1 });
    expect(lines[0].entropy).toBeCloseTo(Math.log2(10), 12);
  });

  const pitfalls: [name: string, step: Step, value: number, remedy: string][] = [
    ['zero_spread', withLog({ frac_reward_zero_std: 0.75 }), 0.75, 'no reward spread'],
    ['one_action', withBatch(answers(...repeatNames(9, 'SLEEP'), 'LEARN')), 0.9, 'SLEEP 90%, LEARN 10%'],
    ['cycle', withBatch(answers(...repeatNames(5, 'SLEEP', 'MEDITATE'))), 1, 'SLEEP 50%, MEDITATE 50%'],
    ['cut_off', withBatch({ ...answers(...NAMES), ...HALF_CUT_OFF }), 0.5, '--grpo-completion-length'],
    [
      'unparsed',
      withBatch({ ...answers(...NAMES), legal: NAMES.map((_, k) => k < 4) }),
      0.6,
      'have no action',
    ],
    [
      'cut_off_read',
      withBatch({ ...answers(...NAMES), cut_off: NAMES.map((_, k) => k === 0) }),
      0.1,
      'middle',
    ],
  ];

  it('warns once of each pitfall, and of no other, after a full window', () => {
    const stepsOf = (step: Step) => [...repeat(2 * WINDOW, step), ...repeat(2 * WINDOW, HEALTHY)];
    const results = watched(...pitfalls.map(([, step]) => ({ limits, steps: stepsOf(step) })));
    for (const [k, [name, , value, remedy]] of pitfalls.entries()) {
      const { warnings, summary, text } = results[k];
      expect(warnings.map(({ pitfall, step: at }) => [pitfall, at])).toEqual([[name, WINDOW]]);
      expect(warnings[0].value).toBeCloseTo(value, 12);
      expect(warnings[0].text).toContain(remedy);
      expect(Object.keys(summary)).toEqual([name]);
      expect(summary[name].first_step).toBe(WINDOW);
      expect(summary[name].steps).toBeGreaterThan(WINDOW);
      expect(summary[name].steps).toBeLessThan(3 * WINDOW);
      expect(text).toContain(`${name}: ${summary[name].steps} of ${4 * WINDOW} steps, first at ${WINDOW}`);
    }
  });

  it('warns of a large KL at its step, and stops only at the configured pitfalls', () => {
    const steps = [...repeat(2, HEALTHY), withLog({ kl: 10_731 }), withLog({ kl: null }), HEALTHY];
    const stopping = { ...limits, stop_on: ['kl', 'cycle'] };
    const spreadless = repeat(WINDOW, withLog({ frac_reward_zero_std: 1 }));
    const [{ warnings, stops, summary, text }, other] = watched(
      { limits: stopping, steps },
      { limits: stopping, steps: spreadless },
    );
    expect(warnings.map(({ pitfall, step }) => [pitfall, step])).toEqual([['kl', 3]]);
    expect(stops).toEqual([[], [], ['kl'], ['kl'], []]);
    // TRL logs NaN as null, which counts as infinite.
    expect(summary.kl).toMatchObject({ first_step: 3, steps: 2, worst: null, worst_step: 4 });
    expect(text).toContain('worst inf at 4');
    expect(other.stops.flat()).toEqual([]);
  });

  it('has no warning of one_action or cycle if a window has fewer than MIN_ANSWERS (watch.py) answers with an action', () => {
    const few = withBatch({ ...answers('SLEEP', 'LEARN'), legal: [true, false] });
    const [{ warnings }] = watched({ limits: { ...limits, unparsed: 1 }, steps: repeat(12, few) });
    expect(warnings).toEqual([]);
  });

  it('continues from the lines of a resumed run, and omits an incomplete last line of the log', () => {
    const collapsing = withBatch(answers(...repeatNames(10, 'SLEEP')));
    const steps = [...repeat(3, HEALTHY), ...repeat(6, collapsing)];
    const [whole] = watched({ limits, steps });
    expect(whole.warnings.map(({ pitfall }) => pitfall)).toEqual(['one_action']);
    const past = whole.lines.slice(0, 5);
    const [resumed] = watched({ limits, past, steps: steps.slice(5) });
    expect(resumed.lines).toEqual(whole.lines);
    expect(whole.log).toEqual(whole.lines.slice(0, -1));
  });

  it('finds the same actions as parseCompletion', () => {
    const texts = [
      ...NAMES.map((name) => `<reasoning>SLEEP is possible, LEARN is better.</reasoning>\n1 2 3 ${name}`),
      ...['5 5 5 exercise.', 'Answer: 4 6 5 DEEP_WORK', 'ME_TIME', 'SLEEP\n\n0 0 9 Binge_Watch\n'],
    ];
    const [{ actions }] = watched({ texts: [...texts, 'I would rather not.'] });
    expect(actions.slice(0, -1)).toEqual(
      texts.map((text) => parseCompletion(text).actionName?.toUpperCase()),
    );
    expect(actions.at(-1)).toBeNull();
  });

  it('prints all settings, also those in the README, and names missing packages before it creates a folder', () => {
    const [{ table, missing }] = watched({});
    expect(table.split('\n').length).toBeGreaterThan(30);
    for (const [option] of read('python/recipe/README.md').matchAll(/`--(?:grpo|sft|watch)-[\w-]+/g))
      if (!/-rows$/.test(option)) expect(table).toContain(`| ${option}\``);
    const error = /^error: Expected the packages torch, trl, got .*Run: pip install "trl/;
    expect(missing).toEqual([expect.stringMatching(error), false]);
  });
});

it('train.py requires the versions that CI installs, and package.json lists the files of the recipe', () => {
  const [, header] = /^# \/\/\/ script\n([\s\S]*?)^# \/\/\/$/m.exec(read('python/recipe/train.py'))!;
  for (const [requirement] of read('.ci/run').matchAll(/"(?:trl|peft)[>=<\d.,]+"/g))
    expect(header).toContain(requirement);
  const { files } = JSON.parse(read('package.json'));
  const recipe = ['python/rhythm_vec/*.py', 'python/recipe/*.py', 'python/recipe/README.md'];
  expect(files).toEqual(expect.arrayContaining(recipe));
});
