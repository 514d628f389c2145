/** The Python code of a dataset card loads the rows beside the card and scores completions. */
import { mkdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { ACTION_NAMES, parseCompletion, scoreReplay } from '../../src/index.js';
import { float32Decimals } from '../../src/shared/float32-decimal.js';
import { grpoRows } from '../../src/training/datasets/grpo/grpo-rows.js';
import { toPlan } from '../../src/training/datasets/state-sampler.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { askPythonAsync, TRL, whyAbsent } from '../support/python.js';
import { PARTS } from '../support/recipe.js';
import { startServer } from '../support/server.js';

// Given {}, the script PARTS only tests whether the packages exist. Importing TRL would take 12 s of processor time.
const absent = whyAbsent('trl', '1.13 or later, and peft', PARTS, {});
if (absent !== null) test.skip(`the Python code of the card: NOT RUN here: ${absent}`, () => {});

const pathOf = temporaryDirectory();

interface Scored {
  readonly columns: readonly string[];
  readonly rewards: Readonly<Record<string, readonly number[]>>;
}

/** Returns the Python code of a card, with its placeholders replaced. */
function codeOf(card: string, values: Readonly<Record<string, string>>): string {
  let [, code] = /^```python\n(.*?)^```$/ms.exec(card)!;
  for (const [placeholder, value] of Object.entries(values)) {
    expect(code).toContain(placeholder);
    code = code.replace(placeholder, value);
  }
  return code;
}

describe.runIf(absent === null)('the Python code of a card', () => {
  it.each(['jsonl', 'parquet'])('scores all completions of a batch, with rows in %s', async (format) => {
    const folder = pathOf(format);
    mkdirSync(folder);
    const made = await runCli(['dataset', 'grpo', '--rows', '40', '--output', `${folder}/rows.${format}`]);
    expect(made.code, made.stderr).toBe(0);
    const rows = [...grpoRows(toPlan({ rows: 40 }), {})].flat();
    const { url } = await startServer();
    const code = codeOf(readFileSync(`${folder}/README.md`, 'utf8'), {
      'http://127.0.0.1:8000': url,
      'path/to/this/folder': folder,
    });
    const answers = rows.map((_, i) =>
      i % 5 ? `${i % 10} 4 7 ${ACTION_NAMES[i % 10]}` : 'no answer at all',
    );
    const { columns, rewards } = await askPythonAsync<Scored>('trl/card.py', { code, answers }, TRL);
    expect(columns).toEqual(Object.keys(rows[0]));
    const expected = scoreReplay(
      rows.map(({ seed, profile_mode, action_history }, i) => {
        const { action, belief, given } = parseCompletion(answers[i]);
        return {
          seed,
          profileMode: profile_mode,
          actionHistory: action_history,
          action,
          belief: given ? belief : null,
        };
      }),
    ).rewards;
    expect(rewards).toEqual({
      format_valid: float32Decimals(expected.formatValid),
      action_legal: float32Decimals(expected.actionLegal),
      env_reward: float32Decimals(expected.envReward),
      belief_accuracy: float32Decimals(expected.beliefAccuracy),
    });
    expect(new Set(rewards.env_reward).size).toBeGreaterThan(20);
  });
});
