/** `report`: a page and its figures from files of several kinds, invalid lines, and refusals before anything is written. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { evaluate } from '../../src/evaluation/evaluate.js';
import { evaluationToJson } from '../../src/evaluation/evaluation-json.js';
import { episodeLine } from '../../src/rollouts/trajectories/write-line.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { runCli, temporaryDirectory } from '../support/cli.js';
import { listedIn, optionsOf } from '../support/page-tables.js';
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
    const { code, stdout, stderr } = await report(
      pathOf('pretty'),
      pathOf('one-line.jsonl'),
      pathOf('trajectories.json'),
      '--output',
      pathOf('all'),
    );
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe(`${pathOf('all')}/report.html: one page, and 11 figures as SVG and PNG beside it.\n`);
    const names = readdirSync(pathOf('all'));
    const figures = [
      'action-sequences',
      'actions',
      'belief-error',
      'calibration',
      'components',
      'cost',
      'gains',
      'scores',
    ];
    const all = [...figures, 'episode-1', 'episode-2', 'episode-3'].flatMap((name) => [
      `${name}.png`,
      `${name}.svg`,
    ]);
    expect(names.sort()).toEqual([...all, 'report.html'].sort());
    const page = pageOf('all');
    for (const name of all.filter((each) => each.endsWith('.svg'))) {
      expect(page).toContain(readFileSync(`${pathOf('all')}/${name}`, 'utf8'));
    }
    expect(new Pixels(readFileSync(`${pathOf('all')}/cost.png`)).size[0]).toBeGreaterThan(600);
  });

  it('can include the standard input', async () => {
    const { code } = await runCli(['report', '-', '--output', pathOf('piped')], lines.join(''));
    expect(code).toBe(0);
    expect(pageOf('piped')).toContain('<bdi>standard input</bdi>');
  });
});

describe('invalid lines', () => {
  it('may come first; they are reported, left out, counted on the page, and give exit code 1 without --skip-bad', async () => {
    const other = JSON.stringify(changedAt(episodes[0], 'world_digest', 'x'));
    const older = JSON.stringify(changedAt(episodes[0], 'schema.version', 0));
    writeFileSync(
      pathOf('damaged'),
      ['}\n', lines[0], `${other}\n`, `${older}\n`, lines[0], lines[1], '{"torn": \n'].join(''),
    );
    const { code, stderr } = await report(pathOf('damaged'), '--output', pathOf('damaged-report'));
    expect(code).toBe(1);
    expect(stderr.split('\n').map((line) => line.replace(pathOf('damaged'), '').slice(0, 22))).toEqual([
      ':1: skipped, corrupt: ',
      ':3: skipped, foreign: ',
      ':4: skipped, older: sc',
      ':5: skipped, duplicate',
      ':7: skipped, corrupt: ',
      '',
    ]);
    expect(pageOf('damaged-report')).toContain('5 lines skipped: 2 corrupt, 1 foreign, 1 older, 1 duplicate');
    const allowed = await report(pathOf('damaged'), '--skip-bad', '--output', pathOf('damaged-report'));
    expect(allowed.code).toBe(0);
  });
});

describe('report refuses, before anything is written,', () => {
  const refused = async (args: string[], ...mentions: string[]) => {
    const { code, stdout, stderr } = await report(...args);
    expect([code, stdout]).toEqual([2, '']);
    for (const mention of mentions) expect(stderr).toContain(mention);
  };
  const out = ['--output', pathOf('nothing')];

  it('missing files, other contents, a file given twice, and a missing --output', async () => {
    await refused(
      ['no-such-file', ...out],
      'Expected RESULTS to name a file, got no-such-file',
      'See rhythm-vec report --help.\n',
    );
    await refused([pathOf('pretty'), pathOf('pretty'), ...out], 'which is the same');
    writeFileSync(pathOf('empty'), '');
    await refused([pathOf('empty'), ...out], 'got an empty file');
    writeFileSync(pathOf('text'), 'once upon\na time\n');
    await refused([pathOf('text'), ...out], 'text:1: skipped, corrupt', 'got 2 lines skipped: 2 corrupt');
    writeFileSync(pathOf('bench'), JSON.stringify({ schema: SCHEMAS.bench }));
    await refused(
      [pathOf('bench'), ...out],
      'Expected RESULTS to name the JSON of eval or the JSON of reeval or the JSON of audit or a file of trajectories',
      `got ${pathOf('bench')}, which is the JSON of a benchmark. No command reads it.`,
    );
    writeFileSync(pathOf('newer'), JSON.stringify({ ...AUDIT, schema: { ...SCHEMAS.audit, version: 2 } }));
    await refused([pathOf('newer'), ...out], `${pathOf('newer')}: Expected "rhythm-vec/audit" version 1`);
    await refused([pathOf('pretty')], "required option '--output <directory>'");
    expect(readdirSync(pathOf(''))).not.toContain('nothing');
  });

  it('a directory in which another file has the name of a figure or of the page', async () => {
    mkdirSync(pathOf('home'));
    writeFileSync(pathOf('home/scores.png'), 'mine');
    await refused([pathOf('pretty'), '--output', pathOf('home')], 'got scores.png. Name another directory');
    expect(readFileSync(pathOf('home/scores.png'), 'utf8')).toBe('mine');
    expect(readdirSync(pathOf('home'))).toEqual(['scores.png']);
    mkdirSync(pathOf('site'));
    writeFileSync(pathOf('site/report.html'), '<title>mine</title>');
    await refused([pathOf('pretty'), '--output', pathOf('site')], 'got report.html. Name another directory');
  });
});

it('docs/report.md lists the options of report', async () => {
  const { stdout } = await report('--help');
  expect(listedIn('docs/report.md', 'Options').options).toEqual(optionsOf(stdout));
});

it('a report replaces an earlier report, and no other file', async () => {
  const output = ['--output', pathOf('again')];
  expect((await report(pathOf('trajectories.json'), ...output)).code).toBe(0);
  writeFileSync(pathOf('again/notes.txt'), 'mine');
  expect(readdirSync(pathOf('again'))).toContain('episode-1.svg');
  expect((await report(pathOf('pretty'), ...output)).code).toBe(0);
  expect(readdirSync(pathOf('again')).sort()).toEqual([
    'notes.txt',
    'report.html',
    'scores.png',
    'scores.svg',
  ]);
  expect(pageOf('again')).toContain('What is missing');
});
