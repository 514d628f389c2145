/** The work of `rhythm-vec eval`. */
import { resolve } from 'node:path';
import { episodesOf, selectConditions } from '../evaluate/conditions.js';
import { evaluate } from '../evaluate/evaluate.js';
import type { EvaluateOptions } from '../evaluate/options.js';
import { evaluationToJson } from '../evaluate/report.js';
import { POLICY_NAMES } from '../policies/policies.js';
import { episodeLine } from '../trajectory/line.js';
import { headerText, rowsText } from './components-text.js';
import { renderHeader, renderTable } from './eval-table.js';
import { UsageError } from './failure.js';
import { checkNotGrader, readGrader } from './grader-file.js';
import { checkEngineOptions } from './options.js';
import { checkOutput, type Output, openOutput, writeJson } from './output-file.js';
import { createProgress } from './progress.js';

type Listeners = 'onStart' | 'onProgress' | 'onEpisodes' | 'onTrajectories';

/** What is written besides the table. */
interface Outputs {
  readonly json?: string;
  readonly components?: string;
  readonly trajectories?: string;
}

export interface EvalCommandOptions
  extends Omit<EvaluateOptions, 'chunkSize' | 'grader' | 'signal' | Listeners>,
    Outputs {
  readonly grader: string;
}

/** @throws UsageError for paths; InputError for names; the signal's reason. */
export async function runEval(
  { json, components, trajectories, ...options }: EvalCommandOptions,
  signal: AbortSignal,
): Promise<void> {
  checkEngineOptions(options);
  checkOutputs({ json, components, trajectories }, options.grader);
  if (trajectories !== undefined) checkFewEnough(options);
  const grader = await readGrader(options.grader);
  // Whoever asks for JSON on the standard output wants nothing else there.
  const people = [json, components, trajectories].includes('-') ? process.stderr : process.stdout;
  const stored = await opened(components);
  const lived = await opened(trajectories);
  const progress = createProgress('episodes');
  try {
    const evaluation = await evaluate({
      ...options,
      grader,
      signal,
      onStart: async (info) => {
        people.write(renderHeader(info));
        await stored?.write(headerText(info));
      },
      onProgress: progress.update,
      onEpisodes: stored === null ? undefined : (episodes) => stored.write(rowsText(episodes)),
      onTrajectories:
        lived === null ? undefined : (episodes) => lived.write(episodes.map(episodeLine).join('')),
    });
    progress.stop();
    people.write(renderTable(evaluation));
    if (json !== undefined) await writeJson(json, evaluationToJson(evaluation));
    await stored?.commit();
    await lived?.commit();
  } finally {
    progress.stop();
    await stored?.discard();
    await lived?.discard();
  }
}

const opened = async (path: string | undefined): Promise<Output | null> =>
  path === undefined ? null : openOutput(path);

/** Refuses places that cannot be written to, the grader's file, and one place for two outputs. */
function checkOutputs(outputs: Outputs, grader: string): void {
  const taken = new Map<string, string>();
  for (const [name, path] of Object.entries(outputs) as [string, string | undefined][]) {
    if (path === undefined) continue;
    const option = `--${name}`;
    checkOutput(option, path);
    checkNotGrader(option, path, grader);
    const other = taken.get(resolve(path));
    taken.set(resolve(path), option);
    if (other === undefined) continue;
    throw new UsageError(`Expected ${option} to be another file than ${other}, got ${path}. Name another.`);
  }
}

/** What a file of trajectories may have: some 2 GB. */
const MOST_TRAJECTORIES = 100_000;

function checkFewEnough(options: EvaluateOptions): void {
  const weeks = selectConditions(options).reduce((sum, condition) => sum + episodesOf(condition), 0);
  const policies = new Set(options.policies ?? POLICY_NAMES).size;
  const episodes = weeks * policies;
  if (episodes <= MOST_TRAJECTORIES) return;
  throw new UsageError(
    `Expected at most ${MOST_TRAJECTORIES} episodes with --trajectories, got ${episodes} (${policies} policies, ${weeks} ` +
      'weeks each). An episode takes some 18 kB: name fewer --seeds or --policies, or store --components.',
  );
}
