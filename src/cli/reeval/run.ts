/** The work of `rhythm-vec reeval`. */
import { toSnakeCase } from '../../evaluate/report.js';
import { type Grader, toGrader } from '../../graders/grader.js';
import { type ReevaluatedRow, Reevaluation, type Section } from '../../reeval/reevaluation.js';
import { SCHEMAS } from '../../schemas.js';
import { GRADER_NAMES } from '../../world/fields.js';
import { UsageError } from '../failure.js';
import { readGrader } from '../files/grader-file.js';
import { besideOutputs, writeJson } from '../files/output-file.js';
import { checkOutputs } from '../files/output-places.js';
import { inBatches, toStandardError } from '../files/trajectory-batches.js';
import { checkTrajectories, readTrajectories } from '../files/trajectory-files.js';
import { checkEngineOptions, type EngineOptions } from '../options.js';
import { createProgress } from '../progress.js';
import { ReevalStream } from './stream.js';
import { renderReevaluated } from './table.js';

export interface ReevalOptions extends EngineOptions {
  readonly jsonl: readonly string[];
  readonly grader?: string;
  readonly json?: string;
  /** How many of an episode are named. */
  readonly mismatches: number;
  readonly skipBad: boolean;
}

/** @returns whether all is as recorded. @throws UsageError for paths, or files without an episode; the signal's reason. */
export async function runReeval(options: ReevalOptions, signal: AbortSignal): Promise<boolean> {
  checkEngineOptions(options);
  const { jsonl, json } = options;
  if (json !== undefined) checkOutputs([{ option: '--json', path: json }], options.grader);
  checkTrajectories('--jsonl', jsonl, json === undefined ? null : { option: '--json', path: json });
  using reevaluation = new Reevaluation(options, await gradersOf(options));
  const stream = new ReevalStream(reevaluation, options.mismatches, toStandardError);
  await readAll(stream, jsonl, signal);
  const { counts, named } = stream;
  const { skipped } = counts;
  if (counts.episodes === 0) {
    const why = skipped.total === 0 ? '' : `; ${skipped.text}`;
    throw new UsageError(`Expected episodes, got none${why}. Pass what rhythm-vec teach writes.`);
  }
  const sections = reevaluation.sections();
  besideOutputs(json).write(renderReevaluated(reevaluation.run, sections, counts));
  if (json !== undefined) {
    const { grader: _, graderWeights: __, backendReason: ___, ...run } = reevaluation.run;
    const results = {
      schema: SCHEMAS.reevaluation,
      ...run,
      files: jsonl,
      ...counts,
      skipped: skipped.counts,
      named,
    };
    await writeJson(json, toSnakeCase({ ...results, rows: rowsOf(sections) }));
  }
  return counts.mismatchedEpisodes === 0 && (options.skipBad || skipped.total === 0);
}

async function readAll(stream: ReevalStream, paths: readonly string[], signal: AbortSignal): Promise<void> {
  const progress = createProgress('bytes');
  const { skipped } = stream.counts;
  try {
    const lines = readTrajectories(paths, { signal, onProgress: progress.update });
    const batches = inBatches(lines, { skipped, report: toStandardError, signal });
    for await (const batch of batches) stream.add(batch);
  } finally {
    progress.stop();
  }
}

const gradersOf = async ({ grader }: ReevalOptions): Promise<readonly Grader[]> =>
  grader === undefined ? GRADER_NAMES.map(toGrader) : [await readGrader(grader)];

/** One list, as programs like it. */
const rowsOf = (sections: readonly Section[]) =>
  sections.flatMap(({ condition, profiles, seeds, graders }) =>
    graders.flatMap(({ grader, weights, rows }) =>
      rows.map(({ player, ...row }: ReevaluatedRow) => ({
        ...{ condition, profiles, seeds, grader, graderWeights: weights },
        ...{ teacher: null, model: null, objective: null, oracle: false, ...player },
        ...row,
      })),
    ),
  );
