/** examples/trl as it is: rows, a server, and TRL's own trainer around the tiny model for a few steps. */
import { describe, expect, it, test } from 'vitest';
import { ACTION_NAMES } from '../src/world/fields.js';
import { temporaryDirectory } from './support/cli.js';
import { talkPython } from './support/python.js';
import { metric, startServer } from './support/server.js';
import { whyAbsent } from './support/trl.js';

const SCRIPT = 'trl/example.py';
const COMMAND = 'node --import tsx src/cli/main.ts';
const [STEPS, PROMPTS, GENERATIONS] = [3, 4, 8];
const BATCH = PROMPTS * GENERATIONS;
const REWARDS = ['format_valid', 'action_legal', 'env_reward', 'belief_accuracy'];

interface Trained {
  readonly actions: readonly string[];
  readonly changed: number;
  readonly log: readonly Readonly<Record<string, number>>[];
}

const absent = whyAbsent();
if (absent !== null) test.skip(`the example with TRL: NOT RUN here: ${absent}`, () => {});

const file = temporaryDirectory();

const argumentsOf = (output: string, ...more: string[]): string[] => [
  ...['--cpu', '--output', output, '--rhythm-vec', COMMAND, '--rows', '40', '--steps', `${STEPS}`],
  ...['--prompts', `${PROMPTS}`, '--generations', `${GENERATIONS}`, '--accumulation', '1'],
  ...['--completion-length', '8', '--learning-rate', '0.01', '--beta', '0', ...more],
];

function expectTrained({ changed, log }: Trained): void {
  const steps = log.filter(({ reward }) => reward !== undefined);
  expect(steps).toHaveLength(STEPS);
  for (const step of steps) {
    for (const name of REWARDS) expect(step[`rewards/${name}/mean`]).toBeTypeOf('number');
    expect(step.reward).toBeCloseTo(
      REWARDS.reduce((sum, name) => sum + step[`rewards/${name}/mean`], 0),
      4,
    );
  }
  // Some of what it says by chance is an answer: groups have spread, so there is something to learn.
  expect(steps.some(({ frac_reward_zero_std }) => frac_reward_zero_std < 1)).toBe(true);
  expect(steps.some(({ grad_norm }) => grad_norm > 0)).toBe(true);
  expect(changed).toBeGreaterThan(0.5);
}

describe.runIf(absent === null)('the example with TRL', () => {
  it('makes rows, starts a server, and trains against it', async () => {
    const trained = await talkPython<Trained>(SCRIPT, { arguments: argumentsOf(file('all')) });
    expectTrained(trained);
    expect(trained.actions).toEqual(ACTION_NAMES.map((name) => name.toUpperCase()));
  });

  it('trains against a server that runs, which scores each completion once for all four rewards', async () => {
    const server = await startServer();
    const shaping = ['--shaping', 'repetition', 'exploration'];
    const args = argumentsOf(file('url'), '--url', server.url, ...shaping);
    expectTrained(await talkPython<Trained>(SCRIPT, { arguments: args }));
    expect(await metric(server, 'rhythm_vec_scored_rows_total')).toBe(STEPS * BATCH);
  });
});
