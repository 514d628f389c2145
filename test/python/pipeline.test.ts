/** python/recipe/pipeline.py in small sizes, then commands with its student at a real model server, transformers serve. */
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, test, vi } from 'vitest';
import type { TrajectoryEpisode } from '../../src/rollouts/trajectories/trajectory-episode.js';
import { fromLines, runCli, runCliProcess, startCli, temporaryDirectory } from '../support/cli.js';
import { THOROUGH } from '../support/engines.js';
import * as python from '../support/python.js';

const pathOf = temporaryDirectory();
const absent = python.whyAbsent('serving', '(transformers[serving]) and trl', 'recipe/serving.py', {});
if (absent !== null) test.skip(`the pipeline and a model server: NOT RUN here: ${absent}`, () => {});

const LIMIT_MS = 600_000;
const OUTPUT = pathOf('pipeline');
const SIZES = [
  ...['--episodes', '2', '--rows', '16', '--eval-episodes', '1', '--curve-episodes', '1'],
  ...['--conditions', 'in-distribution,ood'],
];
const TRAIN = ['--sft-epochs', '8', '--sft-learning-rate', '0.02', '--grpo-steps', '1', '--grpo-batch', '8'];

/** Runs the pipeline to its end. */
async function runPipeline(): Promise<{ readonly code: number; readonly stderr: string }> {
  const script = python.pathOf('python/recipe/pipeline.py');
  const args = ['--output', OUTPUT, '--rhythm-vec', 'node lib/cli.js', ...SIZES, ...TRAIN];
  const child = python.start([...python.forkOf(python.TRL), script, ...args]);
  child.stdin.end();
  child.stdout.resume();
  const [[code], stderr] = await Promise.all([once(child, 'close'), text(child.stderr)]);
  return { code, stderr };
}

/** Starts a server of the pipeline's models, which ends with the test. */
async function startModels() {
  const script = python.pathOf('python/recipe/model_server.py');
  const child = python.start([...python.forkOf(python.TRL), script, OUTPUT, '--device', 'cpu']);
  child.stderr.resume();
  onTestFinished(() => void child.kill('SIGKILL'));
  const [url] = await once(createInterface(child.stdout), 'line');
  return { child, url };
}

const GREEDY = ['--max-tokens', '16', '--temperature', '0'];
const teachAt = (url: string, output: string, ...more: string[]): string[] => [
  ...['teach', '--policy', 'llm:sft', '--base-url', url, '--seeds', '100-102', '--output', output],
  ...['--concurrency', '1', ...GREEDY, ...more],
];
const episodesIn = (path: string) => fromLines(readFileSync(path, 'utf8')) as TrajectoryEpisode[];
const stepsIn = (path: string) => episodesIn(path).map(({ steps }) => steps);
const answersIn = (path: string): number =>
  existsSync(path) ? fromLines(readFileSync(path, 'utf8')).length : 0;

describe.runIf(absent === null)('the pipeline', () => {
  it(
    'trains, evaluates and reports, and skips finished stages',
    async () => {
      const { code, stderr } = await runPipeline();
      expect(code, stderr).toBe(0);
      const { stages, curves } = JSON.parse(readFileSync(join(OUTPUT, 'pipeline.json'), 'utf8'));
      const names = ['teach', 'validate', 'rows', 'sft', 'grpo', 'curves', 'evaluate', 'report'];
      expect(Object.keys(stages)).toEqual(names);
      const errors = curves[2].points.map(({ y }: { y: number }) => y);
      // The base model gives no answers, so its error is that of the belief [0.5, 0.5, 0.5]; the student states beliefs.
      expect(errors.at(-1)).not.toBe(errors[0]);
      const page = readFileSync(join(OUTPUT, 'report/report.html'), 'utf8');
      for (const figure of ['training', 'scores-1', 'belief-error']) {
        expect(page).toContain(`${figure}.svg`);
        expect(existsSync(join(OUTPUT, `report/${figure}.png`))).toBe(true);
      }
      for (const word of ['Time and cost of each stage', 'llm:sft', 'llm:grpo', 'planner-wellbeing']) {
        expect(page).toContain(word);
      }
      const again = await runPipeline();
      expect(again.code, again.stderr).toBe(0);
      for (const name of names) expect(again.stderr).toContain(`${name} is finished.`);
    },
    LIMIT_MS,
  );

  it(
    'has a student that a real server serves to teach: killed and resumed, within a budget, with answers cut off',
    async () => {
      const { url, child } = await startModels();
      const [whole, killed] = [pathOf('whole.jsonl'), pathOf('killed.jsonl')];
      const partial = `${killed}.partial`;
      const running = startCli(teachAt(url, killed), { OPENAI_API_KEY: 'none' });
      await vi.waitUntil(() => answersIn(partial) > 35, { timeout: 60_000, interval: 5 });
      running.child.kill('SIGKILL');
      await running.finished;
      const run = (args: string[]) => runCli(args, '', { OPENAI_API_KEY: 'none' });
      expect(await run(teachAt(url, killed))).toMatchObject({
        code: 0,
        stderr: expect.stringContaining('from earlier runs'),
      });
      expect(await run(teachAt(url, whole))).toMatchObject({ code: 0 });
      // Greedy answers are the same each time.
      expect(stepsIn(killed)).toEqual(stepsIn(whole));
      expect(
        stepsIn(whole)
          .flat()
          .some(({ parsed }) => parsed),
      ).toBe(true);
      expect((await run(['reeval', '--jsonl', killed])).stdout).toContain(
        '3 episodes replayed, all as recorded',
      );

      const cut = pathOf('cut.jsonl');
      const prices = ['--prices', '1,1', '--max-tokens', '2'];
      // An answer costs at most some 0.002 dollars, and an episode about 0.02.
      const short = await run(teachAt(url, cut, ...prices, '--budget', '0.03'));
      expect(short.code, short.stderr).toBe(3);
      const enough = await run(teachAt(url, cut, ...prices, '--budget', '1'));
      expect(enough.code, enough.stderr).toBe(0);
      for (const { usage, steps } of episodesIn(cut)) {
        // The server ignores the limit of a run's first request, which has the name max_completion_tokens.
        expect(usage).toMatchObject({ requests: 28 });
        expect(usage?.cut_off).toBeGreaterThanOrEqual(27);
        expect(steps.slice(1).some(({ parsed }) => parsed)).toBe(false);
      }
      child.kill('SIGKILL');
    },
    LIMIT_MS,
  );

  it.runIf(THOROUGH)(
    'has a student whose evaluation a killed server interrupts, and another server continues',
    async () => {
      const lost = await startModels();
      const trajectories = pathOf('eval.jsonl');
      const evalAt = (url: string) => [
        ...[
          'eval',
          '--policies',
          'llm:sft',
          '--conditions',
          'in-distribution',
          '--episodes',
          '4',
          '--base-url',
          url,
        ],
        ...['--trajectories', trajectories, '--retries', '0', '--concurrency', '1', ...GREEDY],
      ];
      const running = startCli(evalAt(lost.url), { OPENAI_API_KEY: 'none' });
      await vi.waitUntil(() => answersIn(`${trajectories}.partial`) > 35, { timeout: 60_000, interval: 5 });
      lost.child.kill('SIGKILL');
      expect((await running.finished).code).toBe(1);
      const { url } = await startModels();
      const resumed = await runCliProcess(evalAt(url), '', { OPENAI_API_KEY: 'none' });
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(episodesIn(trajectories)).toHaveLength(4);
    },
    LIMIT_MS,
  );
});
