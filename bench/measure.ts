/** Verifies all cases, then times them in interleaved rounds. Measures the clock beside each sample, and takes medians. */
import { Bench } from 'tinybench';
import type { Case } from './cases.js';
import { measureClock, now, timerTick } from './clock.js';
import type { Rig } from './rig.js';
import { type Row, type Sample, type Subject, toRow } from './rows.js';
import { ReferenceOutputs, titleOf, verify } from './verify.js';

/** The effort of a measurement. */
export interface Effort {
  /** Rounds over all cases. */
  readonly rounds: number;
  /** The minimum number of plays in a sample. */
  readonly plays: number;
  /** The minimum duration of a sample, in milliseconds. */
  readonly ms: number;
  /** The milliseconds of playing before the first sample, so that the JavaScript is compiled. */
  readonly warmMs: number;
}

type Length = Pick<Effort, 'plays' | 'ms'>;

export interface Measured {
  readonly rows: readonly Row[];
  /** The timer's resolution, in nanoseconds. */
  readonly tick: number;
}

export type OnProgress = (what: string) => void;

/** Returns the nanoseconds of one play: the median of several, each from the start. */
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

function sample(rig: Rig, effort: Effort): Sample {
  const before = measureClock();
  const ns = timePlay(rig, effort);
  const after = measureClock();
  // Takes the faster measurement, because an interruption makes the clock seem slower.
  return { ns, cycles: before === null || after === null ? null : ns * Math.max(before, after) };
}

/** Yields to the event loop, so that signals are handled. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const subjectOf = ({
  open: _open,
  openExpected: _openExpected,
  steps,
  writes,
  ...subject
}: Case): Subject => ({
  ...subject,
  writes: writes.text,
  bytesPerStep: writes.bytes(steps) / steps,
});

/**
 * Measures a row for each case.
 * @param onProgress called with the current work.
 * @throws Mismatch before anything is timed, if a case's outputs differ from the reference's.
 */
export async function measure(
  cases: readonly Case[],
  effort: Effort,
  onProgress: OnProgress,
): Promise<Measured> {
  const references = new ReferenceOutputs();
  const rigs: Rig[] = [];
  for (const each of cases) {
    onProgress(`verifying ${titleOf(each)}`);
    await yieldToEventLoop();
    rigs.push(each.open(each));
    verify(each, rigs.at(-1)!, references);
    timePlay(rigs.at(-1)!, { plays: 1, ms: effort.warmMs });
  }
  const samples: Sample[][] = cases.map(() => []);
  for (let round = 1; round <= effort.rounds; round++) {
    onProgress(`round ${round} of ${effort.rounds}`);
    for (const [k, rig] of rigs.entries()) {
      await yieldToEventLoop();
      samples[k].push(sample(rig, effort));
    }
  }
  for (const rig of rigs) rig.close();
  const tick = timerTick();
  const rows = cases.map((each, k) => toRow(subjectOf(each), samples[k], each.episodes * each.steps, tick));
  return { rows, tick };
}
