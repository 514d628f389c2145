/** The card's script for a trainer: given rows and completions, it prints what they are worth. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { toPlan } from '../src/dataset/options.js';
import { grpoRows } from '../src/dataset/rows.js';
import { TRAINING } from '../src/dataset/training.js';
import { ACTION_NAMES, parseCompletion, scoreReplay } from '../src/index.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'rhythm-card-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('scores every completion of a batch', () => {
  const [, script] = /^```js\n(.*?)^```$/ms.exec(TRAINING)!;
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(ROOT, join(folder, 'node_modules', 'rhythm-vec'), 'junction');
  writeFileSync(join(folder, 'score.mjs'), script);
  const rows = [...[...grpoRows(toPlan({ rows: 40 }), {})].flat()].map((row, i) => ({
    seed: row.seed,
    profileMode: row.profile_mode,
    actionHistory: row.action_history,
    completion: i % 5 ? `${i % 10} 4 7 ${ACTION_NAMES[i % 10]}` : 'no answer at all',
  }));
  const printed = execFileSync(process.execPath, ['score.mjs'], {
    cwd: folder,
    input: JSON.stringify(rows),
    encoding: 'utf8',
  });
  const { rewards } = scoreReplay(
    rows.map(({ completion, ...row }) => {
      const { action, belief, given } = parseCompletion(completion);
      return { ...row, action, belief: given ? belief : null };
    }),
  );
  expect(JSON.parse(printed)).toEqual(Array.from(rewards.total));
  expect(new Set(rewards.total).size).toBeGreaterThan(20);
});
