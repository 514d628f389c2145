/** Verify, then time: interleaved rounds of every case, the clock measured beside each, medians at the end. */
import { Bench } from 'tinybench';
import { type Case, stepsOf } from './cases.js';
import { measureClock } from './clock.js';
import { openRig, type Rig } from './rig.js';

/** A play shorter than this many ticks of the timer says nothing. */
const LEAST_TICKS = 100;

export interface Row extends Omit<Case, 'play' | 'records'> {
  /** Median over the rounds; null if the timer was too coarse. */
  readonly nsPerStep: number | null;
  readonly cyclesPerStep: number | null;
}

interface Sample {
  readonly ns: number;
  readonly cycles: number | null;
}

/** What a play leaves behind: every output, and for a case that records, every step. */
function left(row: Case, rig: Rig): Map<string, ArrayLike<number>> {
  const arrays = Object.entries(row.records ? { ...rig.outputs, ...rig.trajectory } : rig.outputs);
  return new Map(arrays);
}

/** Throws unless a case leaves the same bits as the reference does, in every episode. */
function verify(row: Case, rig: Rig): void {
  const truth = openRig({ backend: 'reference', kernel: null, threads: 1, episodes: row.episodes });
  for (const each of [rig, truth]) {
    each.reset();
    row.play(each);
  }
  const expected = left(row, truth);
  for (const [name, got] of left(row, rig)) {
    const wanted = expected.get(name)!;
    const at = Array.from(got).findIndex((value, i) => !Object.is(value, wanted[i]));
    if (at < 0) continue;
    throw new Error(
      `${row.kernel ?? row.backend}, ${row.name}: ${name}[${at}] is ${got[at]}, the reference's ${wanted[at]}. ` +
        'Nothing was timed.',
    );
  }
}

/** Nanoseconds of one play: the median of a few, with a reset before each. */
async function timeOnce(row: Case, rig: Rig, iterations: number): Promise<number> {
  const bench = new Bench({
    time: 0,
    iterations,
    warmup: false,
    now: () => Number(process.hrtime.bigint()) / 1e6,
  });
  bench.add(row.name, () => row.play(rig), { beforeEach: rig.reset });
  await bench.run();
  const { result } = bench.tasks[0];
  if (result.state !== 'completed') throw new Error(`${row.name} did not complete: ${result.state}`);
  return result.latency.p50 * 1e6;
}

async function sample(row: Case, rig: Rig, iterations: number): Promise<Sample> {
  const before = measureClock();
  const ns = await timeOnce(row, rig, iterations);
  const after = measureClock();
  return { ns, cycles: before === null || after === null ? null : ns * Math.max(before, after) };
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1];

function timerTick(): number {
  const ticks = Array.from({ length: 100 }, () => {
    const start = process.hrtime.bigint();
    let end = start;
    while (end === start) end = process.hrtime.bigint();
    return Number(end - start);
  });
  return median(ticks);
}

function summarise(row: Case, samples: Sample[], tick: number): Row {
  const { play: _play, records: _records, ...described } = row;
  const ns = median(samples.map((each) => each.ns));
  if (ns < LEAST_TICKS * tick) return { ...described, nsPerStep: null, cyclesPerStep: null };
  const steps = stepsOf(row);
  const cycles = samples.flatMap((each) => each.cycles ?? []);
  const cyclesPerStep = cycles.length === samples.length ? median(cycles) / steps : null;
  return { ...described, nsPerStep: ns / steps, cyclesPerStep };
}

/** Runs the cases. `onProgress` hears what is done. */
export async function measure(
  cases: readonly Case[],
  rounds: number,
  onProgress: (what: string) => void,
): Promise<Row[]> {
  const rigs = cases.map((row) => openRig(row));
  cases.forEach((row, k) => {
    onProgress(`verifying ${row.kernel ?? row.backend}, ${row.name}`);
    verify(row, rigs[k]);
  });
  const samples: Sample[][] = cases.map(() => []);
  for (let round = 1; round <= rounds; round++) {
    onProgress(`round ${round} of ${rounds}`);
    for (const [k, row] of cases.entries()) {
      samples[k].push(await sample(row, rigs[k], row.backend === 'reference' ? 1 : 5));
    }
  }
  const tick = timerTick();
  return cases.map((row, k) => summarise(row, samples[k], tick));
}
