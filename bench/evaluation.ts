/** `--evaluation`: times the evaluation of 150 episodes, in a warm process and as a command. */
import { isDeepStrictEqual } from 'node:util';
import { bracketEvaluation } from '../dist/evaluation/bracket.js';
import { evaluationToJson } from '../dist/evaluation/evaluation-json.js';
import { evaluate } from '../dist/index.js';
import { runNode } from './child.js';
import { now } from './clock.js';
import { type OnProgress, yieldToEventLoop } from './measure.js';
import { digits } from './report.js';
import { median } from './rows.js';
import { Mismatch } from './verify.js';

const CONDITIONS = ['in-distribution', 'ood'];
const COMMAND = ['dist/cli/main.js', 'eval', '--conditions', CONDITIONS.join(), '--backend'];

/** How often the calls and the processes are measured. */
export interface EvaluationPlan {
  readonly calls: number;
  readonly processes: number;
}
/** Chosen by hand: more measurements give steadier medians, and take longer. */
export const FULL_EVALUATION: EvaluationPlan = { calls: 51, processes: 11 };
export const SMALL_EVALUATION: EvaluationPlan = { calls: 1, processes: 1 };

export interface EvaluationTimes {
  readonly conditions: readonly string[];
  readonly kernel: string;
  /** The number of episodes that each policy plays. */
  readonly episodes: number;
  readonly policies: number;
  /** The median time of `evaluate()` in a warm process, in milliseconds. */
  readonly callMs: number;
  /** The median time of the command, in milliseconds. */
  readonly processMs: number;
  /** The median time of an empty Node process, in milliseconds. It is part of the command's time. */
  readonly emptyProcessMs: number;
}

interface EvaluationJson {
  readonly kernel: string;
  readonly rows: readonly { condition: string; episodes: number }[];
}

const toJson = (evaluation: Awaited<ReturnType<typeof evaluate>>): EvaluationJson =>
  JSON.parse(JSON.stringify(evaluationToJson(bracketEvaluation(evaluation, null))));

/** Times the evaluation on a backend. @throws Mismatch if its rows differ from the reference's. */
export async function timeEvaluation(
  backend: string,
  plan: EvaluationPlan,
  onProgress: OnProgress,
): Promise<EvaluationTimes> {
  onProgress('evaluation');
  const options = { conditions: CONDITIONS, backend };
  const command = [...COMMAND, backend];
  const expected = toJson(await evaluate({ ...options, backend: 'reference' }));
  const warm = toJson(await evaluate(options));
  const { stdout } = await runNode([...command, '--json', '-']);
  for (const { rows } of [warm, JSON.parse(stdout) as EvaluationJson]) {
    if (!isDeepStrictEqual(rows, expected.rows)) {
      throw new Mismatch('evaluation: Expected the rows that the reference computes, got different rows.');
    }
  }
  const callMs = await medianMs(plan.calls, async () => {
    const start = now();
    await evaluate(options);
    return now() - start;
  });
  const processMs = await medianMs(plan.processes, async () => (await runNode(command)).ns);
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

/** Returns the median of `count` measurements in milliseconds. @param time measures once, in nanoseconds. */
async function medianMs(count: number, time: () => Promise<number>): Promise<number> {
  const times: number[] = [];
  while (times.length < count) {
    await yieldToEventLoop();
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
