/** Verifies all cases, then times them in interleaved rounds. Measures the core beside each sample, and computes rows. */
import { STATE_WORDS } from '../dist/world/fields.js';
import type { Case } from './cases.js';
import { type Core, type Probe, totalOf } from './core/core.js';
import type { Rig } from './episodes.js';
import { demandOf } from './operations.js';
import type { Row, Subject } from './ratios.js';
import { digits, percent, table } from './report.js';
import { inTurn, type Length, median, orVoid, progress, spreadOf, timePlay, timerTick } from './runner.js';
import { ReferenceOutputs, titleOf, verify } from './verify.js';

/** The report names a row if its `core` is below this share. Chosen by hand. */
const MIN_CORE = 0.8;

/** The least work that a step demands of the core, and the core's rates for it. */
export interface Demand {
  /** Operations of the rules (operations.ts); null if they are not counted. */
  readonly operationsPerStep: number | null;
  /** Bytes of outputs and state that a step writes. */
  readonly writtenPerStep: number;
  /** Bytes per nanosecond that the core stores in a buffer about as large as the batch. */
  readonly store: number;
  /** The best rate of this run, in operations per nanosecond. */
  readonly best: number;
}

/** The time of playing all episodes once. */
export interface Sample {
  readonly ns: number;
  readonly cycles: number | null;
  /** The core's rate in operations per nanosecond, measured before and after the sample; null if not measured. */
  readonly rate: number | null;
}

const VOID = { nsPerStep: null, spread: null, cyclesPerStep: null, share: null, boundBy: null, core: null };

/**
 * Computes a row.
 * @param steps the number of steps of a sample, over all episodes. @param tick the timer's resolution, in nanoseconds.
 * @param demand null if the core's rates were not measured.
 */
export function toRow(
  subject: Subject,
  samples: readonly Sample[],
  steps: number,
  tick: number,
  demand: Demand | null = null,
): Row {
  const times = samples.map((sample) => sample.ns);
  const ns = orVoid(median(times), tick);
  if (ns === null) return { ...subject, saturated: true, ...VOID };
  const cycles = samples.flatMap((sample) => sample.cycles ?? []);
  return {
    ...subject,
    saturated: false,
    nsPerStep: ns / steps,
    spread: spreadOf(times),
    cyclesPerStep: cycles.length === samples.length ? median(cycles) / steps : null,
    ...boundOf(samples, steps, demand),
  };
}

function boundOf(samples: readonly Sample[], steps: number, demand: Demand | null) {
  const none = { share: null, boundBy: null };
  const rates = samples.flatMap((sample) => sample.rate ?? []);
  if (demand === null || rates.length < samples.length) return { ...none, core: null };
  const { operationsPerStep, writtenPerStep, store, best } = demand;
  const core = median(rates) / best;
  if (operationsPerStep === null) return { ...none, core };
  const operations = median(samples.map(({ ns, rate }) => (operationsPerStep * steps) / rate! / ns));
  const bytes = (writtenPerStep * steps) / store / median(samples.map(({ ns }) => ns));
  return {
    share: Math.max(operations, bytes),
    boundBy: operations >= bytes ? ('operations' as const) : ('bytes' as const),
    core,
  };
}

export function renderRows(rows: readonly Row[]): string {
  const head = ['kernel', 'case', 'layout', 'writes', 'threads', 'episodes', 'B/step'];
  const figures = ['ns/step', '±', 'cycles/step', 'of bound', 'core'];
  const lines = rows.map((row) => [
    row.kernel ?? row.backend,
    row.name,
    row.layout,
    row.writes,
    row.threads,
    row.episodes,
    digits(row.bytesPerStep, 1),
    digits(row.nsPerStep, 2),
    percent(row.spread, row.saturated ? 'void' : '-'),
    digits(row.cyclesPerStep, 1, row.saturated ? 'void' : '-'),
    percent(row.share),
    percent(row.core),
  ]);
  return table([...head, ...figures], lines, 4);
}

/** Returns a warning for each row for which the core ran below MIN_CORE of its best rate. */
export const slowRows = (rows: readonly Row[]): string[] =>
  rows
    .filter(({ core }) => core !== null && core < MIN_CORE)
    .map(
      (row) =>
        `${row.kernel ?? row.backend}, ${row.name}, ${row.layout}, ${row.episodes} episodes, threads ${row.threads}: ` +
        `THE CORE RAN AT ${percent(row.core)} OF ITS BEST RATE. Measure again on an idle core.`,
    );

/** The effort of a measurement: the length of its samples, and how many there are. */
export interface Effort extends Length {
  /** Rounds over all cases. */
  readonly rounds: number;
  /** The milliseconds of playing each case before the first round, so that the JavaScript is compiled. */
  readonly warmMs: number;
}

/** Times a play, and measures the core before and after it. */
function sample(rig: Rig, effort: Effort, core: Core | null, probe: Probe | null): Sample {
  if (core === null || probe === null) return { ns: timePlay(rig, effort), cycles: null, rate: null };
  const before = [core.clock(), core.rate(probe)];
  const ns = timePlay(rig, effort);
  // Takes the faster measurement, because an interruption makes the core seem slower.
  const clock = Math.max(before[0], core.clock());
  return { ns, cycles: ns * clock, rate: Math.max(before[1], core.rate(probe)) };
}

/**
 * Returns the probe (core.ts) with the registers of a case's kernel and the mix of operations that is closest to the case's.
 * The reference counts as the kernel `scalar`.
 */
function probeOf(core: Core | null, { kernel, choice = 'given' }: Case): Probe | null {
  const registers = kernel ?? 'scalar';
  // `demandOf` returns the same for every number of episodes in a register above 1, so 2 stands for all of them.
  return core?.probeFor(registers, demandOf(choice, registers === 'scalar' ? 1 : 2)) ?? null;
}

/**
 * Measures a row for each case.
 * @param core measures the core beside each sample; null for rows without cycles and shares.
 * @returns the rows, and the timer's resolution in nanoseconds.
 * @throws Mismatch before the first round, if a case's outputs differ from the reference's.
 */
export async function measure(cases: readonly Case[], effort: Effort, core: Core | null) {
  const references = new ReferenceOutputs();
  const rigs: Rig[] = [];
  for (const each of cases) {
    await progress(`verifying ${titleOf(each)}`);
    const rig = each.open(each);
    rigs.push(rig);
    verify(each, rig, references);
    // Warms up: this time is not used.
    timePlay(rig, { plays: 1, ms: effort.warmMs });
  }
  const probes = cases.map((each) => probeOf(core, each));
  const samples = await inTurn(cases, effort.rounds, titleOf, (_, k) => {
    if (k === 0) core?.measureAll();
    return sample(rigs[k], effort, core, probes[k]);
  });
  for (const rig of rigs) rig.close();
  const tick = timerTick();
  const rows = cases.map((each, k): Row => {
    const { open: _open, openExpected: _openExpected, choice: _choice, steps, writes, ...rest } = each;
    const subject = { ...rest, writes: writes.text, bytesPerStep: writes.bytes(steps) / steps };
    return toRow(subject, samples[k], each.episodes * steps, tick, demandOfCase(each, probes[k], core));
  });
  return { rows, tick };
}

/** Returns the operations and bytes that a step of a case needs, and the core's rates for them; null without a probe. */
function demandOfCase(each: Case, probe: Probe | null, core: Core | null): Demand | null {
  if (core === null || probe === null) return null;
  const { backend, choice, threads, writes, steps, episodes } = each;
  const isCounted = choice !== undefined && backend === 'native' && threads === 1;
  const batchBytes = episodes * (STATE_WORDS * 4 + writes.bytes(1));
  return {
    operationsPerStep: isCounted ? totalOf(demandOf(choice, probe.lanes)) : null,
    writtenPerStep: (writes.bytes(steps) + writes.stateBytes(steps)) / steps,
    store: core.storeFor(batchBytes),
    best: core.bestOf(probe),
  };
}
