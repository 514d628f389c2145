/** Runs of eval and teach that are killed, and continue from FILE.partial: the finished file has the bytes of a whole run. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli, startStopped, temporaryDirectory } from '../support/cli.js';

const pathOf = temporaryDirectory();
const read = (name: string): string => readFileSync(pathOf(name), 'utf8');
const filesOf = (prefix: string): string[] =>
  readdirSync(pathOf('.')).filter((name) => name.startsWith(prefix));
/** 150 episodes of each policy: two chunks, and in Parquet several row groups. */
const EVAL = 'eval --conditions custom --seeds 100-249 --policies heuristic+constant,reactive+constant';
const TEACH = 'teach --policy heuristic+inference --seeds 100-165';

/** Returns the JSON of an evaluation without the fields that describe the run. */
function resultsIn(name: string): unknown {
  const { seconds, ...others } = JSON.parse(read(name));
  expect(seconds).toBeGreaterThan(0);
  return others;
}

describe.each(['jsonl', 'parquet'])('a file of %s', (ending) => {
  it.each([
    ['eval', `${EVAL} --trajectories`],
    ['teach', `${TEACH} --output`],
  ])('of %s, killed, continues', async (name, args) => {
    const [whole, killed] = ['whole', 'killed'].map((prefix) => `${prefix}-${name}.${ending}`);
    const run = (output: string) => runCli([...args.split(' '), pathOf(output)]);
    await run(whole);
    const stop = { signal: 'SIGKILL', path: `${pathOf(killed)}.partial` } as const;
    await startStopped([...args.split(' '), pathOf(killed)], stop).finished;
    expect(filesOf(killed)).toContain(`${killed}.partial`);
    expect(await run(killed)).toMatchObject({ code: 0 });
    expect(readFileSync(pathOf(killed)).equals(readFileSync(pathOf(whole)))).toBe(true);
    expect(filesOf(killed)).toEqual([killed]);
  });
});

it('teach plays the episodes of a policy from a file again', async () => {
  writeFileSync(
    pathOf('steady.js'),
    `const act = ({ steps }) => ({ actions: Array.from(steps, () => 0), beliefs: Array.from(steps, () => [0.5, 0.5, 0.5]).flat() });
     export default { open: () => ({ act, reasons: () => 'why' }) };`,
  );
  const run = (output: string) =>
    runCli(['teach', '--policy', pathOf('steady.js'), '--seeds', '100-101', '--output', pathOf(output)]);
  expect(await run('steady.jsonl')).toMatchObject({ code: 0 });
  const [first] = read('steady.jsonl').split('\n');
  writeFileSync(pathOf('anew.jsonl.partial'), `${first.replace('why', 'other')}\n`);
  expect(await run('anew.jsonl')).toMatchObject({ code: 0 });
  expect(read('anew.jsonl')).toBe(read('steady.jsonl'));
});

describe('the lines that an evaluation finds', () => {
  const evaluate = (name: string, args = EVAL) =>
    runCli([...args.split(' '), '--trajectories', pathOf(name), '--json', pathOf(`${name}.json`)]);

  it('are not played again, in whole chunks and in parts of one', async () => {
    await evaluate('all.jsonl');
    const lines = read('all.jsonl').split('\n');
    // A chunk has 128 episodes of each policy.
    for (const count of [0, 1, 127, 128, 200, 299, 300]) {
      // The kill cut off the last line.
      const cutOff = lines[count].slice(0, 50);
      writeFileSync(
        pathOf('part.jsonl.partial'),
        `${lines.slice(0, count).join('\n')}${count > 0 ? '\n' : ''}${cutOff}`,
      );
      expect(await evaluate('part.jsonl')).toMatchObject({ code: 0 });
      expect(read('part.jsonl') === read('all.jsonl'), `${count}`).toBe(true);
      expect(resultsIn('part.jsonl.json')).toEqual(resultsIn('all.jsonl.json'));
    }
  });

  it('give the results that they hold', async () => {
    await evaluate('one.jsonl', EVAL.replace('249', '100'));
    const before = JSON.parse(read('one.jsonl.json')).rows[0];
    const [first] = read('one.jsonl').split('\n');
    const score = JSON.parse(first).final.final_score;
    writeFileSync(
      pathOf('other.jsonl.partial'),
      `${first.replace(`"final_score":${score}`, '"final_score":0.25')}\n`,
    );
    await evaluate('other.jsonl', EVAL.replace('249', '100'));
    const after = JSON.parse(read('other.jsonl.json')).rows[0];
    expect([before.final_score.mean, after.final_score.mean]).toEqual([expect.closeTo(score, 6), 0.25]);
  });

  it('are refused in another order, and stay', async () => {
    const [first, second] = ['heuristic+constant', 'reactive+constant'];
    await evaluate('order.jsonl');
    writeFileSync(pathOf('swapped.jsonl.partial'), read('order.jsonl'));
    const { code, stderr } = await evaluate(
      'swapped.jsonl',
      EVAL.replace(`${first},${second}`, `${second},${first}`),
    );
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(
        /Expected the episodes of .*swapped\.jsonl\.partial in the order of this command, got .*heuristic\+constant/,
      ),
    ]);
    expect(read('swapped.jsonl.partial')).toBe(read('order.jsonl'));
  });

  it('of a policy from a file are played again', async () => {
    writeFileSync(
      pathOf('mine.js'),
      'export default { open: () => ({ act: ({ steps }) => ({ actions: Array.from(steps, () => 0) }) }) };',
    );
    const mine = `eval --conditions custom --seeds 100-101 --policies ${pathOf('mine.js')}`;
    expect(await evaluate('mine.jsonl', mine)).toMatchObject({ code: 0 });
    // The first episode as another version of the policy may have played it.
    const [first] = read('mine.jsonl').split('\n');
    writeFileSync(
      pathOf('again.jsonl.partial'),
      `${first.replace('"final_score":', '"final_score":0.5,"_":')}\n`,
    );
    expect(await evaluate('again.jsonl', mine)).toMatchObject({ code: 0 });
    expect(read('again.jsonl')).toBe(read('mine.jsonl'));
  });
});
