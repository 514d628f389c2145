/** `--bracket` of eval and report: shares in the table, the JSON and the page, and refusals before any work. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { BRACKET_AUDIT } from '../support/bracket.js';
import { runCli, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const EVAL = ['eval', '--conditions', 'ood,discrete', '--episodes', '4', '--policies', 'random,heuristic'];

beforeAll(() => {
  writeFileSync(pathOf('audit.json'), JSON.stringify(BRACKET_AUDIT));
  writeFileSync(pathOf('older.json'), JSON.stringify({ ...BRACKET_AUDIT, version: '0.0.1' }));
  writeFileSync(pathOf('odd.json'), JSON.stringify({ ...BRACKET_AUDIT, grader: 7 }));
  writeFileSync(pathOf('torn.json'), '{');
});

describe('--bracket', () => {
  it('prints the shares and writes them, and report reads the results', async () => {
    const { code, stdout, stderr } = await runCli([
      ...EVAL,
      '--bracket',
      pathOf('audit.json'),
      '--json',
      pathOf('results.json'),
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('Share of the value of knowing the profile');
    expect(stdout.replaceAll('\n', ' ')).toContain(
      'In every column open-loop plays the sequence found for v2, so its share under another grader can be below 0.',
    );
    expect(stdout).toContain('Anchors for sampled profiles under v2: 0.250 ±0.010 (0) and 0.750 ±0.020 (1).');
    expect(stdout).toContain('the anchors, 0.500 and 0.510, lie closer than 0.02.');
    const { rows, brackets } = JSON.parse(readFileSync(pathOf('results.json'), 'utf8'));
    expect(brackets[0]).toMatchObject({ grader: 'v2', anchors: BRACKET_AUDIT.anchors });
    const [{ share, final_score }] = rows;
    expect(share.mean).toBeCloseTo((final_score.mean - 0.25) / 0.5, 12);
    expect(share.low).toBeLessThan(share.mean);
    expect(rows.at(-1)).toMatchObject({ condition: 'discrete', share: null });

    const report = ['report', pathOf('results.json'), '--output', pathOf('page')];
    expect(await runCli([...report, '--bracket', pathOf('audit.json')])).toMatchObject({
      code: 0,
      stderr: '',
    });
    const page = readFileSync(pathOf('page/report.html'), 'utf8');
    expect(page).toContain('share of the value of knowing the profile (95 %)');
    expect(page).toContain(`<bdi>${share.mean.toFixed(3)} ±${(share.high - share.mean).toFixed(3)}</bdi>`);
    expect(page).toContain('lie closer than 0.02.');
  });

  it.each([
    ['an audit of another release', 'older.json', 'older.json: Expected an audit of rhythm-vec'],
    ['an incomplete file', 'torn.json', 'torn.json: Expected one JSON object, got invalid JSON'],
    ['an audit whose grader is a number', 'odd.json', 'odd.json: grader: Expected a name of'],
    ['a missing file', 'nowhere.json', 'Expected --bracket to name a file'],
  ])('refuses %s before it plays episodes or reads results', async (_, name, message) => {
    writeFileSync(pathOf('empty.json'), '{}');
    for (const args of [EVAL, ['report', pathOf('empty.json'), '--output', pathOf('none')]]) {
      const { code, stdout, stderr } = await runCli([...args, '--bracket', pathOf(name)]);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(message);
    }
    expect(existsSync(pathOf('none'))).toBe(false);
  });

  it('refuses the standard input', async () => {
    const { code, stderr } = await runCli([...EVAL, '--bracket', '-']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'Expected --bracket to name a file, got -, the standard input. Write the audit to a file',
    );
  });

  it('refuses an audit of a grader that is not in use, and an output that would overwrite the audit', async () => {
    const audit = JSON.stringify({ ...BRACKET_AUDIT, grader: 'v1' });
    writeFileSync(pathOf('v1.json'), audit);
    const other = await runCli([...EVAL, '--bracket', pathOf('v1.json')]);
    expect(other.stderr).toContain('Expected an audit of a grader in use (v2, v3), got an audit of "v1"');
    const same = await runCli([...EVAL, '--bracket', pathOf('v1.json'), '--json', pathOf('v1.json')]);
    expect(same.stderr).toContain('Expected --json to be another file than --bracket');
    expect(readFileSync(pathOf('v1.json'), 'utf8')).toBe(audit);
  });
});
