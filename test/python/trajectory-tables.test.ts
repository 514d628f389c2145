/** The examples of python/examples that query a Parquet file of trajectories, and files that DuckDB copied. */

import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { parseEpisode } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import * as pyarrow from '../support/pyarrow.js';
import { askPython, startPython, whyAbsent } from '../support/python.js';

const pathOf = temporaryDirectory();
const COPY = 'parquet/copy_rows.py';
const ABSENT = {
  duckdb: whyAbsent('duckdb', '1.1 or later', COPY, null),
  pyarrow: pyarrow.whyAbsent(),
};
const unless = (library: keyof typeof ABSENT): string =>
  ABSENT[library] ? ` (skipped: ${ABSENT[library]})` : '';

let episodes: readonly TrajectoryEpisode[];
beforeAll(async () => {
  for (const name of ['e.jsonl', 'e.parquet']) {
    const policies = ['--policies', 'random,heuristic+constant', '--seeds', '0-19'];
    expect(await runCli(['eval', ...policies, '--trajectories', pathOf(name)])).toMatchObject({ code: 0 });
  }
  episodes = readFileSync(pathOf('e.jsonl'), 'utf8').trim().split('\n').map(parseEpisode);
});

/** Returns what an example prints: two tables of tab-separated lines, without their headers. */
async function outputOf(library: string): Promise<string[][][]> {
  const child = startPython(`python/examples/trajectories_${library}.py`, [pathOf('e.parquet')]);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe('');
  const tables = stdout.trim().split('\n\n');
  return tables.map((table) =>
    table
      .split('\n')
      .slice(1)
      .map((line) => line.split('\t')),
  );
}

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

for (const library of ['duckdb', 'pyarrow'] as const) {
  it.skipIf(ABSENT[library] !== null)(
    `the example of ${library} prints the means and counts${unless(library)}`,
    async () => {
      const [scores, actions] = await outputOf(library);
      const expected = ['heuristic+constant', 'random'].map((teacher) => {
        const played = episodes.filter((episode) => episode.teacher === teacher).map(({ final }) => final);
        const score = meanOf(played.map(({ final_score }) => final_score));
        const error = meanOf(played.map(({ belief_mae }) => belief_mae));
        return [teacher, '20', score.toFixed(6), error.toFixed(6)];
      });
      expect(scores).toEqual(expected);
      const counts = new Map<string, number>();
      for (const { step, action } of episodes.flatMap(({ steps }) => steps)) {
        const key = `${step} ${action}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
      expect(
        Object.fromEntries(actions.map(([step, action, count]) => [`${step} ${action}`, Number(count)])),
      ).toEqual(Object.fromEntries(counts));
    },
  );
}

it.skipIf(ABSENT.duckdb !== null)(`reeval reads rows that DuckDB copied${unless('duckdb')}`, async () => {
  askPython(COPY, [pathOf('e.parquet'), "teacher = 'random' and final_score > 0.4", pathOf('copy.parquet')]);
  const { code, stdout } = await runCli(['reeval', '--jsonl', pathOf('copy.parquet')]);
  const count = episodes.filter(
    ({ teacher, final }) => teacher === 'random' && final.final_score > 0.4,
  ).length;
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining(`${count} episodes replayed, all as recorded, bit for bit.`),
  ]);
});

it.skipIf(ABSENT.pyarrow !== null)(
  `reeval reads rows that PyArrow copied with other compressions${unless('pyarrow')}`,
  async () => {
    // DuckDB's file above has Snappy, and test/cli/trajectory-parquet.test.ts reads Brotli. An LZ4 file also has empty dictionaries: those of columns that are null in all rows.
    for (const compression of ['zstd', 'gzip', 'lz4', 'none']) {
      pyarrow.recompress(pathOf('e.parquet'), pathOf('copy.parquet'), compression);
      const { code, stdout } = await runCli(['reeval', '--jsonl', pathOf('copy.parquet')]);
      const count = `${episodes.length} episodes replayed, all as recorded, bit for bit.`;
      expect([code, stdout], compression).toEqual([0, expect.stringContaining(count)]);
    }
  },
);

it.skipIf(ABSENT.pyarrow !== null)(`PyArrow reads the types of the columns${unless('pyarrow')}`, () => {
  const { types, metadata } = pyarrow.askPyArrow(pathOf('e.parquet'));
  expect(types).toMatchObject({
    seed: 'int64',
    teacher: 'string',
    oracle: 'bool',
    actions: 'list<element: string not null>',
    belief_social: 'list<element: float>',
    final_score: 'float',
    usage_cost_usd: 'double',
  });
  expect(JSON.parse(metadata['rhythm-vec'])).toMatchObject({
    schema: { name: 'rhythm-vec/trajectory-table' },
  });
});
