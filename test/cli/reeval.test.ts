/** `reeval`: tables, mismatches and exit codes. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_LINE_BYTES } from '../../src/cli/files/trajectory-files.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { float32Decimal } from '../../src/shared/float32-decimal.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { range } from '../support/sft.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const reeval = (...args: string[]) => runCli(['reeval', ...args]);
const textOf = (episodes: readonly TrajectoryEpisode[]): string => episodes.map(episodeLine).join('');

const llmEpisodes = recordEpisodes(episodeStarts(range(100, 104)), {
  policy: TEST_POLICIES.incompleteText,
  player: playerOf({ teacher: 'llm', model: 'm' }),
});
const plannerEpisodes = [true, false].flatMap((oracle) =>
  recordEpisodes(episodeStarts(range(0, 9), 'in-distribution'), {
    player: playerOf({ teacher: 'planner-wellbeing', objective: 'wellbeing', oracle }),
  }),
);

beforeAll(() => {
  writeFileSync(pathOf('answered.jsonl'), textOf(llmEpisodes));
  writeFileSync(pathOf('planner.jsonl'), textOf(plannerEpisodes));
});

/** Returns the lines of a table that begin with a name. */
const linesOf = (stdout: string, name: string): string[] =>
  stdout.split('\n').filter((line) => line.startsWith(`${name}  `));

describe('files without mismatches', () => {
  it('give tables for all graders and exit code 0', async () => {
    const { code, stdout, stderr } = await reeval(
      '--jsonl',
      ...['answered.jsonl', 'planner.jsonl'].map(pathOf),
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('25 episodes replayed, all as recorded, bit for bit.\n');
    expect(stdout).toContain('graders v1, v2 and v3');
    expect(stdout).toContain('\ncustom: seeds 100-104, 5 episodes\n');
    expect(stdout).toContain('\nin-distribution: seeds 0-9, 10 episodes\n');
    for (const name of ['random', 'heuristic', 'open-loop', 'heuristic+constant', 'open-loop+constant']) {
      // Under two conditions and three graders.
      expect(linesOf(stdout, name)).toHaveLength(6);
    }
    expect(linesOf(stdout, 'planner-wellbeing [oracle]')).toHaveLength(3);
    expect(linesOf(stdout, 'llm:m')).toHaveLength(3);
    expect(stdout).toContain('[oracle]: uses hidden state');
    const unparsed = llmEpisodes.flatMap(({ steps }) => steps).filter(({ parsed }) => !parsed).length;
    expect(stdout).toContain(`llm:m: in ${unparsed} of 140 steps no action was parsed; sleep was played.\n`);
    // RhythmEnv published a score of its teacher under v2 alone, the second of the three graders.
    const published = linesOf(stdout, 'planner-wellbeing').map((line) => line.includes(' 0.611 '));
    expect(published).toEqual([false, true, false]);
    expect(linesOf(stdout, 'planner-wellbeing [oracle]').join()).not.toContain('0.611');
    // A policy without a published score has that of RhythmEnv's frontier model under the condition.
    const prior = recordEpisodes(episodeStarts([10000], 'ood'), {
      player: playerOf({ teacher: 'planner-prior' }),
    });
    const other = await runCli(['reeval', '--jsonl', '-', '--grader', 'v2'], textOf(prior));
    expect(other.stdout).toMatch(/^heuristic +\S+ +0\.454 /m);
    expect(other.stdout).toMatch(/^planner-prior +\S+ +0\.621 /m);
  });

  it('are compared with the yardstick, whose missing policies --baselines plays', async () => {
    const notesOf = async (...options: string[]) =>
      (await reeval('--jsonl', pathOf('answered.jsonl'), '--grader', 'v2', ...options)).stdout.replaceAll(
        '\n',
        ' ',
      );
    expect(await notesOf()).toMatch(
      /Yardstick under v2: custom, seeds 100-104 at least 0\.\d{3} \(open-loop\+constant\)\. Above it with the whole 95 % interval: no policy\. Yardstick under v2: unknown scores of reactive\+constant and planner-prior \(custom, seeds 100-104\)\. .*: --baselines /,
    );
    const complete = await notesOf('--baselines', 'reactive+constant,planner-prior');
    expect(complete).toMatch(/Yardstick under v2: custom, seeds 100-104 0\.\d{3} \(\S+\)\./);
    expect(complete).not.toContain('unknown scores');
  });

  it('are graded by a custom grader, also in the JSON', async () => {
    const calm = { name: 'calm', weights: { crash_free: 0.5, efficiency: 0.3, belief_accuracy: 0.2 } };
    writeFileSync(pathOf('calm.json'), JSON.stringify(calm));
    const json = pathOf('calm-results.json');
    const graded = ['--grader', pathOf('calm.json'), '--json', json];
    const { code, stdout } = await reeval('--jsonl', pathOf('planner.jsonl'), ...graded);
    expect(code).toBe(0);
    expect(stdout).toContain('grader calm; world');
    // No score was published under this grader.
    expect(stdout).not.toContain('published');
    expect(stdout).toContain('calm weighs crash_free 0.5');
    const results = JSON.parse(readFileSync(json, 'utf8'));
    expect(results).toMatchObject({
      ...{ schema: SCHEMAS.reevaluation, episodes: 20, mismatched_episodes: 0, mismatches: 0 },
      ...{ skipped: {}, named: [] },
    });
    // Five baselines and two teachers.
    expect(results.rows.map(({ oracle }: { oracle: boolean }) => oracle)).toEqual([
      ...Array(5).fill(false),
      ...[true, false],
    ]);
    expect(results.rows.at(-1).teacher).toBe('planner-wellbeing');
    const [row] = results.rows;
    const fields = { condition: 'in-distribution', seeds: '0-9', grader: 'calm', objective: null };
    expect(row).toMatchObject(fields);
    for (const key of ['final_score', 'belief_mae', 'early_mean', 'over_heuristic', 'over_constant'])
      expect(row).toHaveProperty(key);
  });

  it('are read from the standard input; --json - prints JSON, with the same rows on another backend', async () => {
    const run = (...args: string[]) =>
      runCli(['reeval', '--jsonl', '-', '--json', '-', ...args], textOf(llmEpisodes));
    const [first, second] = [await run(), await run('--backend', 'reference')];
    expect([first.code, second.code]).toEqual([0, 0]);
    const [a, b] = [first, second].map(({ stdout }) => JSON.parse(stdout).rows);
    expect(a).toEqual(b);
    expect(first.stderr).toContain('5 episodes replayed');
  });

  it('may have CR LF, byte order marks as joined files have, blank lines and no last line end', async () => {
    const text = llmEpisodes.map((episode) => `\uFEFF${textOf([episode])}`).join('');
    const lines = text.replaceAll('\n', '\r\n').trimEnd();
    writeFileSync(pathOf('odd.jsonl'), lines.replace('\r\n', '\r\n\r\n  \r\n'));
    const { code, stdout } = await reeval('--jsonl', pathOf('odd.jsonl'));
    expect([code, stdout.includes('5 episodes replayed, all as recorded')]).toEqual([0, true]);
  });
});

it('a changed value is reported with line, step and field, also in the JSON, and gives exit code 1', async () => {
  const changed = [
    llmEpisodes[0],
    changedAt(llmEpisodes[1], 'steps.3.observation.6', 0.5),
    changedAt(changedAt(llmEpisodes[2], 'steps.3.prompt', 'Hello\u001b[2J'), 'final.progress', 0),
    { ...llmEpisodes[3], seed: 999 },
  ];
  const [name, json] = ['changed.jsonl', 'changed.json'].map(pathOf);
  writeFileSync(name, textOf(changed));
  const { code, stdout, stderr } = await reeval(
    ...['--jsonl', name, '--mismatches', '3', '--skip-bad', '--json', json],
  );
  expect(code).toBe(1);
  const lines = stderr.trimEnd().split('\n');
  const recomputed = float32Decimal(llmEpisodes[1].steps[3].observation[6]);
  expect(lines.slice(0, 3)).toEqual([
    `${name}:2: step 3, observation.meters[2]: recorded 0.5, recomputed ${recomputed}`,
    expect.stringContaining(
      `${name}:3: step 3, prompt: recorded "Hello\\u001b[2J", recomputed "Now: day 1 night`,
    ),
    `${name}:3: final.progress: recorded 0, recomputed ${float32Decimal(llmEpisodes[2].final.progress)}`,
  ]);
  expect(lines).toHaveLength(7);
  expect(lines[6]).toMatch(/:4: and \d{3} more$/);
  expect(stdout).toMatch(/4 episodes replayed, 3 NOT AS RECORDED, in \d{3} places\.\n/);
  expect(stdout).toContain('The scores are those of the replay, not of the files.');
  expect(JSON.parse(readFileSync(json, 'utf8')).named[0]).toEqual({
    ...{ line: `${name}:2`, step: 3, field: 'observation.meters[2]', recorded: 0.5, recomputed },
  });
});

describe('invalid lines', () => {
  const other = (changes: object): string => `${JSON.stringify({ ...llmEpisodes[1], ...changes })}\n`;
  beforeAll(() => {
    writeFileSync(pathOf('bad.jsonl'), textOf(llmEpisodes.slice(0, 1)));
    const add = (data: string | Uint8Array) => appendFileSync(pathOf('bad.jsonl'), data);
    add('{"half":\n');
    add(Buffer.from([0xff, 0xfe, 0x00, 0x0a]));
    add(`${'x'.repeat(MAX_LINE_BYTES + 1)}\n`);
    add(other({ schema: { ...SCHEMAS.trajectory, version: 0 } }));
    add(other({ schema: SCHEMAS.regrade }));
    add(other({ world_digest: '0'.repeat(64) }));
    add(textOf(llmEpisodes.slice(0, 1)));
    add(other({ seed: '101' }));
    add(textOf(llmEpisodes.slice(1, 2)).slice(0, 500));
  });

  it('are reported, counted and left out; the others are replayed', async () => {
    const name = pathOf('bad.jsonl');
    const { code, stdout, stderr } = await reeval('--jsonl', name);
    expect(code).toBe(1);
    expect(stderr.trimEnd().split('\n')).toEqual([
      expect.stringMatching(`${name}:2: skipped, corrupt: Expected one JSON object, got invalid JSON`),
      `${name}:3: skipped, corrupt: Expected UTF-8, got other bytes.`,
      `${name}:4: skipped, corrupt: Expected a line of at most ${MAX_LINE_BYTES} bytes, got ${MAX_LINE_BYTES + 1}.`,
      expect.stringContaining(`${name}:5: skipped, foreign: schema: Expected`),
      expect.stringContaining(`${name}:6: skipped, foreign: schema: Expected`),
      expect.stringContaining(`${name}:7: skipped, foreign: world_digest: Expected`),
      `${name}:8: skipped, duplicate: Expected each episode once, got seed 100 (sampled, custom) of the same player again. Remove one of the two.`,
      `${name}:9: skipped, corrupt: seed: Expected an integer from 0 to 4294967295, got "101".`,
      expect.stringContaining(`${name}:10: skipped, corrupt: Expected one JSON object`),
    ]);
    expect(stdout).toContain(
      '1 episode replayed, all as recorded, bit for bit. ' +
        '9 lines skipped: 5 corrupt, 3 foreign, 1 duplicate.\n',
    );
    const few = `${textOf(llmEpisodes.slice(0, 1))}{"half":\n`;
    expect((await runCli(['reeval', '--jsonl', '-', '--skip-bad'], few)).code).toBe(0);
  });
});
