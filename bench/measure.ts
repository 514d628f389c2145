/** Verifies all cases, then times them in interleaved rounds. Measures the core beside each sample, and computes medians. */
import { Bench } from 'tinybench';
import { STATE_WORDS } from '../dist/world/fields.js';
import type { Case } from './cases.js';
import { now, timerTick } from './clock.js';
import { type Core, type Probe, totalOf } from './core/core.js';
import { type CoreFigures, CoreRecord } from './core/record.js';
import { demandOf } from './operations.js';
import type { Rig } from './rig.js';
import { type Demand, type Row, type Sample, type Subject, toRow } from './rows.js';
import { ReferenceOutputs, titleOf, verify } from './verify.js';

/** The effort of a measurement. */
export interface Effort {
  /** Rounds over all cases. */
  readonly rounds: number;
  /** The minimum number of plays in a sample. A play takes all steps of a case once. */
  readonly plays: number;
  /** The minimum duration of a sample, in milliseconds. */
  readonly ms: number;
  /** The milliseconds of playing each case before the first round, so that the JavaScript is compiled. */
  readonly warmMs: number;
}

type Length = Pick<Effort, 'plays' | 'ms'>;

export interface Measured {
  readonly rows: readonly Row[];
  /** The timer's resolution, in nanoseconds. */
  readonly tick: number;
  /** The speed of the core in this run; null if it was not measured. */
  readonly core: CoreFigures | null;
}

export type OnProgress = (what: string) => void;

/** Returns the nanoseconds of one play: the median of several plays. Calls `rig.begin()`, untimed, before each. */
export function timePlay(rig: Rig, { plays, ms }: Length): number {
  const bench = new Bench({
    time: ms,
    iterations: plays,
    warmup: false,
    throws: true,
    now: () => now() / 1e6,
  });
  bench.add('play', () => rig.play(), { async: false, beforeEach: () => rig.begin() });
  const [{ result }] = bench.runSync();
  if (result.state !== 'completed') throw new Error(`Expected a play to complete, got: ${result.state}.`);
  return result.latency.p50 * 1e6;
}

/** Times a play, and measures the core before and after it. */
function sample(rig: Rig, effort: Effort, core: Core | null, probe: Probe | null): Sample {
  const measureCore = () => ({
    clock: core?.clock() ?? null,
    rate: core !== null && probe !== null ? core.rate(probe) : null,
  });
  const before = measureCore();
  const ns = timePlay(rig, effort);
  const after = measureCore();
  // Takes the faster measurement, because an interruption makes the core seem slower.
  const faster = (a: number | null, b: number | null) => (a === null || b === null ? null : Math.max(a, b));
  const clock = faster(before.clock, after.clock);
  return { ns, cycles: clock === null ? null : ns * clock, rate: faster(before.rate, after.rate) };
}

/** Yields to the event loop, so that signals are handled. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const subjectOf = ({
  open: _open,
  openExpected: _openExpected,
  choice: _choice,
  steps,
  writes,
  ...subject
}: Case): Subject => ({
  ...subject,
  writes: writes.text,
  bytesPerStep: writes.bytes(steps) / steps,
});

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
 * @param onProgress called with the current work.
 * @throws Mismatch before the first round, if a case's outputs differ from the reference's.
 */
export async function measure(
  cases: readonly Case[],
  effort: Effort,
  core: Core | null,
  onProgress: OnProgress,
): Promise<Measured> {
  const references = new ReferenceOutputs();
  const rigs: Rig[] = [];
  for (const each of cases) {
    onProgress(`verifying ${titleOf(each)}`);
    await yieldToEventLoop();
    rigs.push(each.open(each));
    verify(each, rigs.at(-1)!, references);
    // Warms up: this time is not used.
    timePlay(rigs.at(-1)!, { plays: 1, ms: effort.warmMs });
  }
  const record = new CoreRecord(core);
  const probes = cases.map((each) => probeOf(core, each));
  const samples: Sample[][] = cases.map(() => []);
  for (let round = 1; round <= effort.rounds; round++) {
    onProgress(`round ${round} of ${effort.rounds}`);
    record.measure();
    for (const [k, rig] of rigs.entries()) {
      await yieldToEventLoop();
      const taken = sample(rig, effort, core, probes[k]);
      record.note(probes[k], taken.rate);
      samples[k].push(taken);
    }
  }
  for (const rig of rigs) rig.close();
  const tick = timerTick();
  const rows = cases.map((each, k) => {
    const steps = each.episodes * each.steps;
    return toRow(subjectOf(each), samples[k], steps, tick, demandOfCase(each, probes[k], record));
  });
  return { rows, tick, core: record.figures() };
}

/** Returns the operations and bytes that a step of a case needs, and the core's rates for them; null without a probe. */
function demandOfCase(each: Case, probe: Probe | null, record: CoreRecord): Demand | null {
  if (probe === null) return null;
  const { backend, choice, threads, writes, steps, episodes } = each;
  const isCounted = choice !== undefined && backend === 'native' && threads === 1;
  const batchBytes = episodes * (STATE_WORDS * 4 + writes.bytes(1));
  return {
    operationsPerStep: isCounted ? totalOf(demandOf(choice, probe.lanes)) : null,
    writtenPerStep: (writes.bytes(steps) + writes.stateBytes(steps)) / steps,
    store: record.storeFor(batchBytes),
    best: record.bestOf(probe),
  };
}
