/** The bench's figures: rows computed from samples, ratios from rows, and their targets. */
import { describe, expect, test } from 'vitest';
import { toRow } from '../../bench/measure.js';
import { NAMES, type Row, ratiosOf, SIZE, type Subject } from '../../bench/ratios.js';
import { isMet, ratiosToJson, renderRatios } from '../../bench/report.js';
import { MIN_TICKS, median } from '../../bench/runner.js';

const subject: Subject = {
  backend: 'native',
  kernel: 'avx512',
  name: NAMES.fused,
  threads: 1,
  episodes: SIZE.usual,
  layout: 'row-major',
  writes: 'something',
  bytesPerStep: 8,
};

/** Returns a row with this many nanoseconds per step. No ratio depends on its cycles, which change with the clock rate. */
const row = (ns: number, changes: Partial<Row> = {}): Row => ({
  ...subject,
  saturated: false,
  nsPerStep: ns,
  spread: 0.01,
  cyclesPerStep: 7,
  share: 1 / ns,
  boundBy: 'operations',
  core: 1,
  ...changes,
});

/** Rows for all ratios, except some ratios of avx2, portable and scalar. */
const ROWS: readonly Row[] = [
  row(3),
  row(2.5, { name: NAMES.step, layout: 'column-major' }),
  row(5, { name: NAMES.step }),
  row(3.5, { name: NAMES.fork }),
  row(2.8, { name: NAMES.sequence }),
  row(4, { episodes: SIZE.large }),
  row(2, { episodes: SIZE.large, threads: 2 }),
  row(6, { name: NAMES.envStep, episodes: SIZE.small }),
  row(4.5, { name: NAMES.addonStep, episodes: SIZE.small }),
  row(6, { name: NAMES.recorded, layout: 'column-major' }),
  row(9, { name: NAMES.recorded }),
  row(8, { kernel: 'avx2' }),
  row(7, { kernel: 'avx2', name: NAMES.step, layout: 'column-major' }),
  row(9.8, { kernel: 'avx2', name: NAMES.step }),
  row(20, { kernel: 'portable' }),
  row(48, { kernel: 'scalar' }),
  row(40, { kernel: 'scalar', name: NAMES.step }),
  row(300, { backend: 'reference', kernel: null }),
];
const valuesOf = (rows: readonly Row[], cores = 2) =>
  Object.fromEntries(ratiosOf(rows, cores).ratios.map(({ name, value }) => [name, value]));
const reasonsOf = (rows: readonly Row[], cores = 2) =>
  Object.fromEntries(ratiosOf(rows, cores).leftOut.map(({ name, why }) => [name, why]));

describe('a row', () => {
  const samples = [30_000, 10_000, 20_000].map((ns) => ({ ns, cycles: ns * 3, rate: 2 }));

  test('is the median of its samples, divided by the steps; without cycles if one sample has none', () => {
    const computed = toRow(subject, samples, 100, 1);
    expect(computed).toMatchObject({ ...subject, saturated: false, nsPerStep: 200, cyclesPerStep: 600 });
    expect(computed).toMatchObject({ spread: 0.5, share: null, core: null });
    const without = toRow(subject, [...samples, { ns: 20_000, cycles: null, rate: 2 }], 100, 1);
    expect(without).toMatchObject({ saturated: false, nsPerStep: 200, cyclesPerStep: null });
    expect(() => median([])).toThrow(RangeError);
  });

  test('has a share: the least time for its operations or for its bytes, whichever is longer, divided by its time', () => {
    const demand = { operationsPerStep: 100, writtenPerStep: 30, store: 1, best: 2.5 };
    // 100 operations take 50 ns at 2 a nanosecond, and 30 bytes 30 ns. The step takes 200 ns.
    const bound = toRow(subject, samples, 100, 1, demand);
    expect(bound).toMatchObject({ share: 0.25, boundBy: 'operations', core: 0.8 });
    const bytes = toRow(subject, samples, 100, 1, { ...demand, store: 0.25 });
    expect(bytes).toMatchObject({ share: 0.6, boundBy: 'bytes' });
    const uncounted = toRow(subject, samples, 100, 1, { ...demand, operationsPerStep: null });
    expect(uncounted).toMatchObject({ share: null, boundBy: null, core: 0.8 });
  });

  test('is void if its median sample is too short for the timer', () => {
    const minTick = 20_000 / MIN_TICKS;
    expect(toRow(subject, samples, 100, minTick).saturated).toBe(false);
    const saturated = toRow(subject, samples, 100, minTick * 1.01);
    expect(saturated).toMatchObject({ ...subject, saturated: true, nsPerStep: null, cyclesPerStep: null });
  });
});

describe('ratios', () => {
  test('are computed from their rows', () => {
    expect(valuesOf(ROWS)).toEqual({
      avx512_fused_share: 1 / 3,
      avx512_step_column_share: 1 / 2.5,
      avx512_step_row_share: 1 / 5,
      avx512_recorded_column_share: 1 / 6,
      avx512_recorded_row_share: 1 / 9,
      avx2_fused_share: 1 / 8,
      avx2_step_column_share: 1 / 7,
      avx2_step_row_share: 1 / 9.8,
      portable_fused_share: 1 / 20,
      scalar_fused_share: 1 / 48,
      scalar_step_row_share: 1 / 40,
      avx512_row_over_column: 2,
      avx2_row_over_column: 9.8 / 7,
      fork_over_fused: 3.5 / 2.8,
      fused_flatness: 3 / 4,
      two_threads_fused: 2,
      api_over_native: 4.5 / 6,
    });
    expect(Object.keys(reasonsOf(ROWS)).every((name) => /^(avx2|portable|scalar)_/.test(name))).toBe(true);
  });

  test('of a void row are missing, with the reason', () => {
    const rows = ROWS.map((each) => ({ ...each, saturated: each.name === NAMES.envStep }));
    expect(valuesOf(rows)).not.toHaveProperty('api_over_native');
    expect(Object.keys(valuesOf(rows))).toHaveLength(Object.keys(valuesOf(ROWS)).length - 1);
    expect(reasonsOf(rows).api_over_native).toMatch(/VecEnv\.step.*void/);
    expect(renderRatios(ratiosOf(rows, 2))).toContain('api_over_native is left out');
  });

  test('of an absent kernel are missing; the others use the best available kernel', () => {
    const rows = ROWS.filter(({ kernel }) => kernel !== 'avx512');
    const best = rows.concat(row(12, { kernel: 'avx2', episodes: SIZE.large }));
    expect(valuesOf(best)).toMatchObject({ avx2_fused_share: 1 / 8, fused_flatness: 8 / 12 });
    expect(Object.keys(reasonsOf(best))).toEqual(
      expect.arrayContaining(['avx512_fused_share', 'avx512_row_over_column']),
    );
    expect(valuesOf([])).toEqual({});
  });

  test('need two cores for two threads, and for shares, unlike quotients of times, the measured speed of the core', () => {
    expect(reasonsOf(ROWS, 1).two_threads_fused).toContain('2 cores');
    const rows = ROWS.map((each) => ({ ...each, share: null, core: null, cyclesPerStep: null }));
    expect(Object.keys(valuesOf(rows)).filter((name) => name.endsWith('_share'))).toEqual([]);
    expect(reasonsOf(rows).avx512_fused_share).toContain('operations per second were not measured');
    expect(valuesOf(rows)).toMatchObject({ fused_flatness: 3 / 4, avx512_row_over_column: 2 });
  });
});

describe('targets', () => {
  test.each([
    ['at most', 16, true],
    ['at most', 16.01, false],
    ['at least', 16, true],
    ['at least', 15.99, false],
  ] as const)('of %s 16: with %d it is met: %s', (bound, value, met) => {
    expect(isMet({ name: 'any', value, target: { bound, value: 16 } })).toBe(met);
    expect(isMet({ name: 'any', value })).toBe(null);
  });

  test('are reported as met or missed, in text and in JSON', () => {
    const ratios = ratiosOf(ROWS, 2);
    const json = ratiosToJson(ratios);
    expect(json.ratios).toEqual(valuesOf(ROWS));
    const { avx512_row_over_column: row, two_threads_fused: threads } = json.targets;
    expect(row).toEqual({ bound: 'at most', value: 1.2, met: false });
    expect(threads).toEqual({ bound: 'at least', value: 1.8, met: true });
    expect(json.leftOut).toEqual(reasonsOf(ROWS));
    const lines = renderRatios(ratios).split('\n');
    const lineOf = (name: string) => lines.find((line) => line.includes(name));
    expect(lineOf('avx512_row_over_column')).toContain('at most 1.2: MISSED');
    expect(lineOf('fused_flatness')).toContain('at least 0.9: MISSED');
  });
});
