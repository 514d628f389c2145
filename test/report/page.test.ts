/** The page of a report: well-formed, self-contained, the same bytes every time, with hostile names escaped. */
import { beforeAll, describe, expect, it } from 'vitest';
import { builtin } from '../../src/agents/policies/stepped-policies.js';
import { evaluate } from '../../src/evaluation/on-first-use.js';
import { evaluationToJson } from '../../src/evaluation/result-json.js';
import { svgOf } from '../../src/figures/svg.js';
import { pageOf, sectionsOf } from '../../src/report/page.js';
import { parseResult } from '../../src/report/parse-results.js';
import { type ReportData, ResultGatherer, TrajectoryTally } from '../../src/report/result-gatherer.js';
import { isFigure } from '../../src/report/section.js';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { SCHEMAS } from '../../src/shared/schemas.js';
import { elementsOf } from '../support/pictures.js';
import { AUDIT } from '../support/report.js';
import { episodeStarts, playerOf, recordEpisodes, TEST_POLICIES } from '../support/trajectories.js';

/** A printable name that would break out of unescaped text, attributes and styles. */
const HOSTILE = `"'><script>alert(1)</script>&lt;<!-- </style>`;
const ARABIC = 'سياسة';

const tallyOf = (episodes: readonly TrajectoryEpisode[]): TrajectoryTally => {
  const tally = new TrajectoryTally();
  for (const episode of episodes) tally.add(episode);
  return tally;
};

async function pageFor(data: ReportData): Promise<string> {
  const sections = sectionsOf(data);
  const svgs = new Map<string, string>();
  for (const { name, drawing } of sections.flatMap(({ parts }) => parts.filter(isFigure))) {
    svgs.set(name, await svgOf(drawing));
  }
  return pageOf(data, sections, svgs, {
    files: [...svgs.keys()].map((name) => `${name}.svg`),
    version: '9.9.9',
  });
}

const gatherData = (...addFiles: ((gatherer: ResultGatherer) => void)[]): ReportData => {
  const gatherer = new ResultGatherer();
  for (const addFile of addFiles) addFile(gatherer);
  return gatherer.data();
};

let evaluation: ReturnType<typeof parseResult>;
let fullPage: string;
const headings = (page: string): string[] =>
  elementsOf(page)
    .filter(({ name }) => name === 'h2')
    .map(({ text }) => text);

const episodes = [
  ...recordEpisodes(episodeStarts([0, 1, 2], 'in-distribution'), {
    policy: TEST_POLICIES.incompleteText,
    player: playerOf({ teacher: 'llm', model: HOSTILE }),
  }),
  ...recordEpisodes(episodeStarts([0, 1], 'discrete', 'workaholic_stoic'), {
    player: playerOf({ teacher: ARABIC }),
  }),
];

beforeAll(async () => {
  const result = await evaluate({ conditions: ['in-distribution', 'ood'], episodes: 3 });
  evaluation = parseResult(JSON.parse(JSON.stringify(evaluationToJson(result))));
  fullPage = await pageFor(fullData());
}, 60_000);
const fullData = (): ReportData =>
  gatherData(
    (gatherer) => gatherer.addResult('results.json', evaluation),
    (gatherer) => gatherer.addResult(HOSTILE, parseResult(AUDIT)),
    (gatherer) => gatherer.addTrajectories('episodes.jsonl', tallyOf(episodes), '2 lines skipped: 2 corrupt'),
  );

describe('a report of an evaluation, an audit and trajectories', () => {
  it('is well-formed, with a heading for each entry of its contents', () => {
    const elements = elementsOf(fullPage);
    const targets = elements.filter(({ name }) => name === 'a').map(({ attributes }) => attributes.href);
    expect(targets.map((target) => target.slice(1))).toEqual(
      elements.filter(({ name }) => name === 'h2').map(({ attributes }) => attributes.id),
    );
    expect(headings(fullPage)).toEqual([
      'Verdict',
      'Final scores',
      'Belief error over the week',
      'Calibration of beliefs',
      'Use of the ten actions',
      'What the grader pays for',
      'Cost',
      'Timelines of episodes',
      'Files and provenance',
    ]);
    const ids = elements.flatMap(({ attributes }) => attributes.id ?? []);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('sends no requests and runs no scripts', () => {
    const addresses = fullPage.replaceAll(/xmlns(:xlink)?="http:\/\/www\.w3\.org\/[\w/]+"/g, '');
    expect(addresses).not.toMatch(/https?:|\/\/\w|url\(|@import|src=|javascript:/i);
    const elements = elementsOf(fullPage);
    expect(
      elements.filter(({ name }) => ['script', 'link', 'img', 'iframe', 'object'].includes(name)),
    ).toEqual([]);
    expect(
      elements.flatMap(({ attributes }) => Object.keys(attributes)).filter((name) => /^on/i.test(name)),
    ).toEqual([]);
    const policy = elements.find(({ attributes }) => attributes['http-equiv'] === 'content-security-policy')!;
    expect(policy.attributes.content).toContain("default-src 'none'");
  });

  it('begins with the verdict, shows at most six figures, and folds the others and all timelines', async () => {
    const policies = { mine: builtin('heuristic') };
    const judged = await evaluate({ policies, conditions: ['ood'], episodes: 3 });
    const result = parseResult(JSON.parse(JSON.stringify(evaluationToJson(judged))));
    const page = await pageFor(gatherData((gatherer) => gatherer.addResult('mine.json', result)));
    expect(page).toMatch(
      /<main>\n<section>\n<h2 id="summary">Verdict<\/h2>\n<ul class="verdict"><li><strong>/,
    );
    expect(page).toMatch(
      />mine, ood<.*not shown to infer by its score, -0\.\d{3} \(-0\.\d{3} to -0\.\d{3}\) against \S+, the best/,
    );
    expect(page).not.toContain('Yardstick');
    const unfolded = fullPage.replaceAll(/<details>.*?<\/details>/gs, '');
    expect(unfolded.match(/<figure>/g)).toHaveLength(6);
    expect(unfolded).toContain('>Timelines of episodes</h2>');
    expect(unfolded).not.toContain('Also as episode-1.svg');
    expect(fullPage).toContain('Also as episode-1.svg');
  });

  it('escapes hostile names', () => {
    const texts = elementsOf(fullPage).map(({ text }) => text);
    expect(texts).toContain(`llm:${HOSTILE}`);
    expect(texts).toContain(HOSTILE);
    expect(texts).toContain(ARABIC);
    expect(fullPage).not.toContain('<script');
  });

  it('has the provenance of its numbers, and notes on omitted data', () => {
    const texts = elementsOf(fullPage).map(({ text }) => text);
    // The digest of the world.
    expect(texts).toContain('155aa5c0249f5f7ea7ad51390ac6f1f2040ede617072eb069d12d237ac1d2e8d');
    expect(texts).toContain('2 lines skipped: 2 corrupt');
    expect(fullPage).toContain('in-distribution 0-2; ood 10000-10002');
    expect(fullPage).not.toContain('class="warning"');
    for (const published of ['0.402', '0.454']) expect(texts).toContain(published);
    expect(fullPage).toContain('belief MAE was 0.196 in-distribution and 0.214 ood.');
    // The share of steps whose answer has no valid action, in three episodes of 28 steps.
    const unparsed = episodes
      .slice(0, 3)
      .flatMap(({ steps }) => steps.filter(({ parsed }) => !parsed)).length;
    expect(texts).toContain(`${((100 * unparsed) / 84).toFixed(1)} %`);
  });

  it('has the same bytes every time', async () => {
    expect(await pageFor(fullData())).toBe(fullPage);
  });
});

it('a report lists what is missing, and the commands that make it', async () => {
  const page = await pageFor(gatherData((gatherer) => gatherer.addResult('results.json', evaluation)));
  expect(headings(page)).toEqual(['Verdict', 'Final scores', 'What is missing', 'Files and provenance']);
  const commands = elementsOf(page)
    .filter(({ name }) => name === 'code')
    .map(({ text }) => text.split(' ')[1]);
  expect(commands).toEqual(['eval', 'teach', 'audit', 'eval']);
});

it('a report shows the curves and costs of a training', async () => {
  const costs = [
    { stage: 'sft', seconds: 1234.4, dollars: 0.25 },
    { stage: 'grpo', seconds: 10, dollars: 0.5 },
  ];
  const points = [
    { x: 1, y: 3.14 },
    { x: 2, y: 1.31 },
  ];
  const { version, world_digest } = evaluation.value;
  const curves = [{ name: 'SFT: loss', unit: 'steps', points }];
  const training = parseResult({ schema: SCHEMAS.training, version, world_digest, curves, costs });
  const page = await pageFor(gatherData((gatherer) => gatherer.addResult('pipeline.json', training)));
  expect(headings(page)).toEqual(['Training', 'What is missing', 'Files and provenance']);
  const cells = elementsOf(page).flatMap(({ name, text }) => (name === 'bdi' ? [text] : []));
  expect(cells.slice(0, 9)).toEqual([
    'sft',
    '1,234',
    '$0.25',
    'grpo',
    '10',
    '$0.5',
    'total',
    '1,244',
    '$0.75',
  ]);
  expect(page).toContain('training.svg');
});

it('a report warns if worlds or versions are mixed', async () => {
  const other = structuredClone(evaluation);
  Object.assign(other.value, { world_digest: 'a'.repeat(64), version: '9.0.0' });
  const page = await pageFor(
    gatherData(
      (gatherer) => gatherer.addResult('a.json', evaluation),
      (gatherer) => gatherer.addResult('b.json', other),
    ),
  );
  expect(page).toContain('Results of 2 different worlds are mixed here.');
  expect(page).toContain('Results of 2 different versions are mixed here.');
  // Rows of both files, with the names of the files.
  expect(page).toContain('random · a.json');
  expect(page).toContain('random · b.json');
});

describe('results', () => {
  const value = () => structuredClone(AUDIT) as unknown as Record<string, unknown>;

  it.each<[name: string, value: unknown, message: RegExp]>([
    ['a number', 3, /Expected the JSON of eval, .* got a value without "schema"/],
    ['another schema', { schema: { name: 'rhythm-vec/bench', version: 1 } }, /got "rhythm-vec\/bench"/],
    [
      'another version',
      { ...value(), schema: { name: 'rhythm-vec/audit', version: 2 } },
      /version 1, got .* version 2/,
    ],
    ['no rows', { ...value(), rows: [] }, /rows: Expected at least one row/],
    ['a verdict that is a number', { ...value(), verdict: 7 }, /verdict: Expected a text, got 7/],
    ['a name with control characters', { ...value(), grader: 'a\u001b[2J' }, /grader: Expected a name of/],
    [
      'an audit without a component',
      { ...value(), grader_weights: { ...AUDIT.grader_weights, wellbeing: undefined } },
      /grader_weights.wellbeing: Expected a finite number, got none/,
    ],
    ['an invalid digest', { ...value(), world_digest: 'x' }, /world_digest: Expected 64 hexadecimal digits/],
  ])('%s is refused', (_name, wrong, message) => {
    expect(() => parseResult(wrong)).toThrow(message);
  });
});
