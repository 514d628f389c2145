/** `--evaluation`: times the evaluation of 150 episodes, in a warm process and as a command. */
import { isDeepStrictEqual } from 'node:util';
import { bracketEvaluation } from '../dist/evaluation/bracket.js';
import { evaluationToJson } from '../dist/evaluation/result-json.js';
import { evaluate } from '../dist/index.js';
import { runNode } from './child.js';
import { digits, type Section } from './report.js';
import { inTurn, median, progress, timeOf } from './runner.js';
import { Mismatch } from './verify.js';

const CONDITIONS = ['in-distribution', 'ood'];

interface EvaluationJson {
  readonly kernel: string;
  readonly rows: readonly { condition: string; episodes: number }[];
}

const toJson = (evaluation: Awaited<ReturnType<typeof evaluate>>): EvaluationJson =>
  JSON.parse(JSON.stringify(evaluationToJson(bracketEvaluation(evaluation, null))));

/** Returns the median time of some work in milliseconds. */
async function medianMs(title: string, count: number, work: () => Promise<unknown>): Promise<number> {
  const [times] = await inTurn([work], count, () => title, timeOf);
  return median(times) / 1e6;
}

export const evaluation: Section = {
  help: 'the time of the 150-episode evaluation, with and without start-up',
  /** @throws Mismatch if the rows of a backend differ from the reference's. */
  async measure(small, { backend }) {
    await progress('evaluation');
    const options = { conditions: CONDITIONS, backend };
    const command = ['dist/cli/main.js', 'eval', '--conditions', CONDITIONS.join(), '--backend', backend];
    const expected = toJson(await evaluate({ ...options, backend: 'reference' }));
    const warm = toJson(await evaluate(options));
    const printed = JSON.parse(await runNode([...command, '--json', '-'])) as EvaluationJson;
    for (const { rows } of [warm, printed]) {
      if (isDeepStrictEqual(rows, expected.rows)) continue;
      throw new Mismatch('evaluation: Expected the rows that the reference computes, got different rows.');
    }
    // Chosen by hand: more measurements give steadier medians, and take longer.
    const [calls, processes] = small ? [1, 1] : [51, 11];
    const callMs = await medianMs('evaluate()', calls, () => evaluate(options));
    const processMs = await medianMs('rhythm-vec eval', processes, () => runNode(command));
    // It is part of the command's time.
    const emptyProcessMs = await medianMs('empty process', processes, () => runNode(['--eval', '0']));
    const sizes = new Map(expected.rows.map((row) => [row.condition, row.episodes]));
    const episodes = [...sizes.values()].reduce((sum, count) => sum + count, 0);
    const policies = expected.rows.length / CONDITIONS.length;
    const text = [
      `Evaluation of ${CONDITIONS.join(' and ')}: ${episodes} episodes, by each of ${policies} policies (${warm.kernel})`,
      `evaluate() in a warm process: ${digits(callMs, 2)} ms`,
      `rhythm-vec eval, start-up included: ${digits(processMs, 0)} ms (an empty Node process: ${digits(emptyProcessMs, 0)} ms)`,
    ].join('\n');
    const figures = {
      conditions: CONDITIONS,
      kernel: warm.kernel,
      episodes,
      policies,
      callMs,
      processMs,
      emptyProcessMs,
    };
    return { figures, text };
  },
};
