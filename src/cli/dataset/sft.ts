/** The work of `rhythm-vec dataset sft`: rows by split, and their card. */
import { basename, resolve } from 'node:path';
import type { RowEncoder } from '../../dataset/encoder.js';
import { FORMATS, type RowFormat } from '../../dataset/formats.js';
import { rangeText } from '../../dataset/seeds.js';
import { sftCardText } from '../../dataset/sft/card.js';
import { OBJECTIVES, type SftOptions, type SftPlan, toSftPlan } from '../../dataset/sft/options.js';
import { sftProvenanceOf } from '../../dataset/sft/provenance.js';
import { SFT_COLUMNS, type SftRow } from '../../dataset/sft/rows.js';
import { SftSelection } from '../../dataset/sft/selection.js';
import { SPLITS, type Split } from '../../dataset/sft/split.js';
import { UsageError } from '../failure.js';
import { checkNotGrader, readGrader } from '../files/grader-file.js';
import { type Output, Outputs } from '../files/output-file.js';
import { inBatches, toStandardError } from '../files/trajectory-batches.js';
import { checkTrajectories, readTrajectories } from '../files/trajectory-files.js';
import { checkEngineOptions, type EngineOptions } from '../options.js';
import { createProgress } from '../progress.js';
import { sftCommandOf } from './sft-command-line.js';
import { SftPlace } from './sft-place.js';
import { SftStream } from './sft-stream.js';

export interface SftCliOptions extends EngineOptions, Omit<SftOptions, 'grader'> {
  readonly jsonl: readonly string[];
  readonly output: string;
  readonly format: string;
  readonly grader: string;
  readonly skipBad: boolean;
}

/** The files of a dataset while it is written. */
interface Sink {
  readonly split: Split;
  readonly output: Output;
  readonly encoder: RowEncoder<SftRow>;
}

/**
 * Writes all files, or none.
 * @returns whether every line was an episode that is as recorded.
 * @throws UsageError for paths, or if no row is left; InputError for a plan that cannot be; the signal's reason.
 */
export async function runSft(options: SftCliOptions, signal: AbortSignal): Promise<boolean> {
  checkEngineOptions(options);
  const plan = toSftPlan({ ...options, grader: await readGrader(options.grader) });
  checkTrajectories('--jsonl', options.jsonl, null);
  const place = new SftPlace(options.output, options.format);
  place.checkInputs('--jsonl', options.jsonl);
  for (const split of SPLITS) checkNotGrader('--output', place.pathOf(split), options.grader);
  using selection = new SftSelection(plan, options);
  let written = false;
  place.make();
  try {
    await using outputs = new Outputs();
    const sinks = await openSinks(place, formatOf(options), plan, outputs);
    const stream = new SftStream(selection, toStandardError);
    await readAll(stream, sinks, options.jsonl, signal);
    requireRows(selection, plan);
    const kept = sinks.filter(({ split }) => selection.counts[split].rows > 0);
    for (const { output, encoder } of kept) await output.write(encoder.end());
    const card = await outputs.open(place.card);
    const files = kept.map(({ split }) => ({ split, path: place.nameOf(split) }));
    const command = sftCommandOf(plan, namesIn(options));
    await card.write(sftCardText({ provenance: sftProvenanceOf(plan), selection, files, command }));
    signal.throwIfAborted();
    // The card of what was there before must not stand beside other rows, not even if the process is killed now.
    place.clearCard();
    for (const { output } of kept) await output.commit();
    for (const sink of sinks) if (!kept.includes(sink)) place.clear(sink.split);
    await card.commit();
    written = true;
    process.stderr.write(`${summary(selection, stream, options.output)}\n`);
    return stream.skipped.total === 0 && stream.untrue === 0;
  } finally {
    if (!written) place.unmake();
  }
}

const formatOf = ({ format }: SftCliOptions): RowFormat => FORMATS.find(({ name }) => name === format)!;

/** Files by their names alone: a card goes elsewhere than the machine that made it. */
const namesIn = ({ jsonl, output, format, grader }: SftCliOptions) => ({
  jsonl: jsonl.map((path) => basename(path)),
  output: basename(resolve(output)),
  format,
  grader: basename(grader),
});

async function openSinks(
  place: SftPlace,
  format: RowFormat,
  plan: SftPlan,
  outputs: Outputs,
): Promise<Sink[]> {
  const sinks: Sink[] = [];
  for (const split of SPLITS) {
    const output = await outputs.open(place.pathOf(split));
    sinks.push({ split, output, encoder: await format.open(sftProvenanceOf(plan), SFT_COLUMNS) });
  }
  return sinks;
}

async function readAll(
  stream: SftStream,
  sinks: readonly Sink[],
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const progress = createProgress('bytes');
  const { skipped } = stream;
  try {
    const lines = readTrajectories(paths, { signal, onProgress: progress.update });
    for await (const batch of inBatches(lines, { skipped, report: toStandardError, signal })) {
      const rows = stream.rowsOf(batch);
      for (const { split, output, encoder } of sinks) {
        if (rows[split].length > 0) await output.write(encoder.add(rows[split]));
      }
    }
  } finally {
    progress.stop();
  }
}

/** By why weeks were left out, where an option takes them. */
const REMEDIES: Readonly<Record<string, (plan: SftPlan) => string>> = {
  'another objective': ({ objective }) =>
    `Only teachers of objective ${objective} are taken: name another (${OBJECTIVES.filter((name) => name !== objective).join(', ')}) by --objective, if that is meant.`,
  'shown hidden numbers': () => 'Pass --allow-oracle, if teachers that were shown hidden numbers are meant.',
  'another seed': ({ seeds }) =>
    `Only weeks of the seeds ${rangeText(seeds)} are taken: name others by --seeds, if that is meant.`,
};

function requireRows({ counts, leftOut }: SftSelection, plan: SftPlan): void {
  if (counts.train.rows > 0) return;
  const why = Array.from(leftOut, ([name, count]) => `${name} (${count})`).join(', ');
  const asked = Object.entries(REMEDIES).filter(([name]) => leftOut.has(name));
  const remedy =
    asked.length > 0
      ? asked.map(([, text]) => ` ${text(plan)}`).join('')
      : ' Ask for less, or pass what rhythm-vec teach writes.';
  throw new UsageError(
    `Expected rows to train on, got none${why === '' ? '' : `; weeks left out because of: ${why}`}.${remedy}`,
  );
}

function summary({ counts, leftOut }: SftSelection, { skipped, untrue }: SftStream, directory: string) {
  const { train, validation } = counts;
  const left = [...leftOut.values()].reduce((sum, count) => sum + count, 0);
  return [
    `${train.rows} rows to train on and ${validation.rows} for validation in ${directory}, with their card.`,
    `${train.episodes + validation.episodes} weeks taken, ${left} left out.`,
    ...(untrue === 0 ? [] : [`${untrue} NOT AS RECORDED: see rhythm-vec reeval.`]),
    ...(skipped.total === 0 ? [] : [`${skipped.text}.`]),
  ].join(' ');
}
