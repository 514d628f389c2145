/** `report`: a page and its figures from files of several kinds, invalid lines, and refusals before anything is written. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryPath } from '../../src/cli/files/output-file.js';
import { checkReplaceable, earlierFiles, PAGE } from '../../src/cli/report.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import { FILES_META } from '../../src/report/page.js';
import { episodeLine } from '../../src/rollouts/trajectories/trajectory-lines.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { Pixels } from '../support/pictures.js';
import { AUDIT } from '../support/report.js';
import {
  changedAt,
  episodeStarts,
  playerOf,
  recordEpisodes,
  TEST_POLICIES,
} from '../support/trajectories.js';

const pathOf = temporaryDirectory();
const report = (...args: string[]) => runCli(['report', ...args]);
const episodes = recordEpisodes(episodeStarts([100, 101, 102]), {
  policy: TEST_POLICIES.incompleteText,
  player: playerOf({ teacher: 'llm', model: 'm' }),
});
const lines = episodes.map(episodeLine);
const pageOf = (directory: string): string => readFileSync(`${pathOf(directory)}/report.html`, 'utf8');

beforeAll(async () => {
  const evaluation = await evaluate({ conditions: ['ood'], episodes: 3, policies: ['random', 'heuristic'] });
  writeFileSync(pathOf('pretty'), JSON.stringify(evaluationToJson(evaluation), null, 2));
  writeFileSync(pathOf('one-line.jsonl'), `\uFEFF${JSON.stringify(AUDIT)}\n`);
  writeFileSync(pathOf('trajectories.json'), lines.join(''));
});

describe('files of several kinds', () => {
  it('are recognised by content, not by name, and become a page with figures', async () => {
    const inputs = ['pretty', 'one-line.jsonl', 'trajectories.json'].map(pathOf);
    const { code, stdout, stderr } = await report(...inputs, '--output', pathOf('all'));
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`${pathOf('all')}/report.html: one page, and 11 figures as SVG and PNG beside it.\n`);
    const names = readdirSync(pathOf('all'));
    const figures =
      'action-sequences actions belief-error calibration components cost gains scores episode-1 episode-2 episode-3';
    const all = figures.split(' ').flatMap((name) => [`${name}.png`, `${name}.svg`]);
    expect(names.sort()).toEqual([...all, 'report.html'].sort());
    const page = pageOf('all');
    for (const name of all.filter((each) => each.endsWith('.svg'))) {
      expect(page).toContain(readFileSync(`${pathOf('all')}/${name}`, 'utf8'));
    }
    expect(new Pixels(readFileSync(`${pathOf('all')}/cost.png`)).size[0]).toBeGreaterThan(600);
  });
});

describe('invalid lines', () => {
  it('may come first; they are reported, left out, counted on the page, and give exit code 1 without --skip-bad', async () => {
    const other = JSON.stringify(changedAt(episodes[0], 'world_digest', 'x'));
    const older = JSON.stringify(changedAt(episodes[0], 'schema.version', 0));
    const bad = ['}\n', lines[0], `${other}\n`, `${older}\n`, lines[0], lines[1], '{"torn": \n'].join('');
    writeFileSync(pathOf('damaged'), bad);
    const { code, stderr } = await report(pathOf('damaged'), '--output', pathOf('damaged-report'));
    expect(code).toBe(1);
    expect(stderr.split('\n').map((line) => line.replace(pathOf('damaged'), '').slice(0, 22))).toEqual([
      ':1: skipped, corrupt: ',
      ':3: skipped, foreign: ',
      ':4: skipped, foreign: ',
      ':5: skipped, duplicate',
      ':7: skipped, corrupt: ',
      '',
    ]);
    expect(pageOf('damaged-report')).toContain('5 lines skipped: 2 corrupt, 2 foreign, 1 duplicate');
    const allowed = await runCli(['report', '-', '--skip-bad', '--output', pathOf('piped')], bad);
    expect(allowed.code).toBe(0);
    expect(pageOf('piped')).toContain('<bdi>standard input</bdi>');
  });
});

it('report refuses files without results before anything is written, and says what it reads', async () => {
  const files = {
    text: 'once upon\na time\n',
    bench: JSON.stringify({ schema: SCHEMAS.bench }),
    newer: JSON.stringify({ ...AUDIT, schema: { ...SCHEMAS.audit, version: 2 } }),
    // Above 64 MiB together; each line is shorter.
    large: JSON.stringify(AUDIT).replace(/\}$/, `\n${' '.repeat(33 * 2 ** 20)}`.repeat(2).concat('\n}')),
  };
  const mentions = {
    text: ['text:1: skipped, corrupt', 'got 2 lines skipped: 2 corrupt'],
    bench: [
      'Expected RESULTS to name the JSON of eval or the JSON of reeval or the JSON of audit or ',
      `got ${pathOf('bench')}, which is the JSON of a benchmark. No command reads it.`,
    ],
    newer: [`${pathOf('newer')}: Expected "rhythm-vec/audit" version 1`],
    large: [`${pathOf('large')}: Expected JSON of at most 67108864 characters, got more`],
  };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(pathOf(name), text);
    const { code, stdout, stderr } = await report(pathOf(name), '--output', pathOf('nothing'));
    expect([code, stdout]).toEqual([2, '']);
    for (const mention of mentions[name as keyof typeof files]) expect(stderr).toContain(mention);
  }
  expect(readdirSync(pathOf(''))).not.toContain('nothing');
});

it('a report replaces an earlier report, and no other file', async () => {
  const output = ['--output', pathOf('again')];
  expect((await report(pathOf('trajectories.json'), ...output)).code).toBe(0);
  writeFileSync(pathOf('again/notes.txt'), 'mine');
  expect(readdirSync(pathOf('again'))).toContain('episode-1.svg');
  expect((await report(pathOf('pretty'), ...output)).code).toBe(0);
  const expected = ['notes.txt', 'report.html', 'scores.png', 'scores.svg'];
  expect(readdirSync(pathOf('again')).sort()).toEqual(expected);
  expect(pageOf('again')).toContain('What is missing');
});

describe('files of earlier reports', () => {
  const pageNaming = (...names: string[]): string =>
    `<meta name="${FILES_META}" content="${names.join(' ')}">`;
  const folder = (name: string, ...names: string[]): string => {
    mkdirSync(pathOf(name));
    for (const each of names) writeFileSync(pathOf(`${name}/${each}`), 'a figure');
    return pathOf(name);
  };
  /** Writes the temporary page of a report that was killed before the rename. */
  const writeTemporaryPage = (directory: string, page: string): void => {
    const endedPid = spawnSync('true').pid;
    writeFileSync(temporaryPath(`${directory}/${PAGE}`).replace(/-\d+-/, `-${endedPid}-`), page);
  };

  it('may be replaced if an earlier report was killed before it wrote the page', () => {
    const directory = folder('new', 'scores.svg', 'mine.svg');
    writeTemporaryPage(directory, pageNaming('scores.svg', 'scores.png'));
    expect(earlierFiles(directory)).toEqual(['scores.svg', 'scores.png']);
    expect(() => checkReplaceable('--output', directory, ['scores.svg', PAGE])).not.toThrow();
    expect(() => checkReplaceable('--output', directory, ['mine.svg'])).toThrow(
      /got mine\.svg\. Name another/,
    );
  });

  it('are the page and the files that it and the temporary page name, each once', () => {
    const directory = folder('over', 'scores.svg', 'episode-1.svg');
    writeFileSync(`${directory}/${PAGE}`, pageNaming('scores.svg'));
    writeTemporaryPage(directory, pageNaming('scores.svg', 'episode-1.svg'));
    expect(earlierFiles(directory)).toEqual([PAGE, 'scores.svg', 'episode-1.svg']);
  });

  it('are none if the page is of another program', () => {
    const directory = folder('foreign', 'scores.svg');
    writeFileSync(`${directory}/${PAGE}`, '<title>mine</title>');
    writeTemporaryPage(directory, 'cut off <meta');
    expect(earlierFiles(directory)).toEqual([]);
  });
});
