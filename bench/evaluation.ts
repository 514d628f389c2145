/** `--evaluation`: times the re-evaluation of 150 episodes, in a warm process and as a process of its own. */
import { isDeepStrictEqual } from 'node:util';
import { evaluationToJson } from '../dist/evaluation/evaluation-json.js';
import { evaluate } from '../dist/index.js';
import { runNode } from './child.js';
import { now } from './clock.js';
import { breathe, type OnProgress } from './measure.js';
import { digits } from './report.js';
import { median } from './rows.js';
import { Mismatch } from './verify.js';

const CONDITIONS = ['in-distribution', 'ood'];
const BACKEND = 'native';
const COMMAND = ['dist/cli/main.js', 'eval', '--conditions', CONDITIONS.join(), '--backend', BACKEND];

/** The number of measurements. */
export interface EvaluationPlan {
  readonly calls: number;
  readonly processes: number;
}
export const FULL_EVALUATION: EvaluationPlan = { calls: 51, processes: 11 };
export const SMALL_EVALUATION: EvaluationPlan = { calls: 1, processes: 1 };

export interface EvaluationTimes {
  readonly conditions: readonly string[];
  readonly kernel: string;
  /** Episodes of the conditions. Every policy plays each. */
  readonly episodes: number;
  readonly policies: number;
  /** Milliseconds, medians: `evaluate()` in a warm process, */
  readonly callMs: number;
  /** the command from start to end, */
  readonly processMs: number;
  /** and an empty Node process, which is part of the command's time. */
  readonly emptyProcessMs: number;
}

interface EvaluationJson {
  readonly kernel: string;
  readonly rows: readonly { condition: string; episodes: number }[];
}

const toJson = (evaluation: Awaited<ReturnType<typeof evaluate>>): EvaluationJson =>
  JSON.parse(JSON.stringify(evaluationToJson(evaluation)));

/** @throws Mismatch if a row of the evaluation is not the reference's; BackendError without the addon. */
export async function timeEvaluation(plan: EvaluationPlan, onProgress: OnProgress): Promise<EvaluationTimes> {
  onProgress('evaluation');
  const options = { conditions: CONDITIONS, backend: BACKEND };
  const expected = toJson(await evaluate({ ...options, backend: 'reference' }));
  const warm = toJson(await evaluate(options));
  const { stdout } = await runNode([...COMMAND, '--json', '-']);
  for (const { rows } of [warm, JSON.parse(stdout) as EvaluationJson]) {
    if (!isDeepStrictEqual(rows, expected.rows)) {
      throw new Mismatch('evaluation: Expected the rows that the reference computes, got others.');
    }
  }
  const callMs = await medianMs(plan.calls, async () => {
    const start = now();
    await evaluate(options);
    return now() - start;
  });
  const processMs = await medianMs(plan.processes, async () => (await runNode(COMMAND)).ns);
  const emptyProcessMs = await medianMs(plan.processes, async () => (await runNode(['--eval', '0'])).ns);
  const sizes = new Map(expected.rows.map((row) => [row.condition, row.episodes]));
  return {
    conditions: CONDITIONS,
    kernel: warm.kernel,
    episodes: [...sizes.values()].reduce((sum, count) => sum + count, 0),
    policies: expected.rows.length / CONDITIONS.length,
    callMs,
    processMs,
    emptyProcessMs,
  };
}

async function medianMs(count: number, time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < count) {
    await breathe();
    times.push(await time());
  }
  return median(times) / 1e6;
}

export function renderEvaluation(times: EvaluationTimes): string {
  const { conditions, kernel, episodes, policies, callMs, processMs, emptyProcessMs } = times;
  return [
    `Evaluation of ${conditions.join(' and ')}: ${episodes} episodes, by each of ${policies} policies (${kernel})`,
    `evaluate() in a warm process: ${digits(callMs, 2)} ms`,
    `rhythm-vec eval, start-up included: ${digits(processMs, 0)} ms (an empty Node process: ${digits(emptyProcessMs, 0)} ms)`,
  ].join('\n');
}
