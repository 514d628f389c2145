/**
 * `npm run bench [-- --rounds N] [--smoke] [--json FILE]`: every case verified, then timed, and the ratios.
 *
 * The compiled package is what is timed: tools that run TypeScript as it is can slow it down many times.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import CliTable from 'cli-table3';
import { Command, InvalidArgumentError } from 'commander';
import { createWorld } from '../dist/world/world.js';
import { CASES } from './cases.js';
import { measure, type Row } from './measure.js';

const positive = (text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError('Expected a positive integer.');
  return value;
};

const options = new Command('bench')
  .option('--rounds <n>', 'interleaved rounds over all cases', positive, 21)
  .option('--smoke', 'one round: shows that every case runs and is right')
  .option('--json <file>', 'write machine, rows and ratios')
  .parse()
  .opts<{ rounds: number; smoke?: boolean; json?: string }>();

/** The project's own bars: what a case may cost at most. Without one a figure is for information. */
const BARS: Record<string, number> = { fused_cycles: 16, scalar_fused_cycles: 200 };

function ratiosOf(rows: readonly Row[]): Record<string, number> {
  const cycles = (kernel: string, name: string) =>
    rows.find((row) => row.kernel === kernel && row.name === name)?.cyclesPerStep ?? Number.NaN;
  const ns = (name: string) => rows.find((row) => row.name === name)?.nsPerStep ?? Number.NaN;
  const ratios = {
    fused_cycles: cycles('avx512', 'fused random'),
    avx2_fused_cycles: cycles('avx2', 'fused random'),
    portable_fused_cycles: cycles('portable', 'fused random'),
    scalar_fused_cycles: cycles('scalar', 'fused random'),
    fused_over_scalar: cycles('scalar', 'fused random') / cycles('avx512', 'fused random'),
    two_threads_fused: ns('fused random, 1 thread') / ns('fused random, 2 threads'),
    reference_fused_million_steps_per_second:
      1000 /
      (rows.find((row) => row.backend === 'reference' && row.name === 'fused random')?.nsPerStep ??
        Number.NaN),
    reference_step_million_steps_per_second:
      1000 /
      (rows.find((row) => row.backend === 'reference' && row.name === 'step')?.nsPerStep ?? Number.NaN),
  };
  return Object.fromEntries(Object.entries(ratios).filter(([, value]) => Number.isFinite(value)));
}

/** No lines between rows. */
const COMPACT = { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' };

const digits = (value: number | null, places: number): string =>
  value === null ? 'void' : value.toFixed(places);

function print(rows: readonly Row[], ratios: Record<string, number>): void {
  const table = new CliTable({
    chars: COMPACT,
    head: ['kernel', 'case', 'threads', 'episodes', 'ns/step', 'cycles/step'],
    style: { head: [], border: [] },
  });
  for (const row of rows) {
    table.push([
      row.kernel ?? row.backend,
      row.name,
      row.threads,
      row.episodes,
      digits(row.nsPerStep, 2),
      digits(row.cyclesPerStep, 1),
    ]);
  }
  console.log(table.toString());
  for (const [name, value] of Object.entries(ratios)) {
    const bar =
      BARS[name] === undefined ? '' : `  (at most ${BARS[name]}: ${value <= BARS[name] ? 'met' : 'MISSED'})`;
    console.log(`${name}: ${value.toFixed(2)}${bar}`);
  }
}

const progress = (what: string): void => {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${what}`);
};

const rows = await measure(CASES, options.smoke ? 1 : options.rounds, progress);
progress('');
const ratios = ratiosOf(rows);
const machine = {
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: cpus().length,
  arch: process.arch,
  node: process.version,
};
print(rows, ratios);
if (options.json) {
  const snake = rows.map(({ nsPerStep, cyclesPerStep, ...row }) => ({
    ...row,
    ns_per_step: nsPerStep,
    cycles_per_step: cyclesPerStep,
  }));
  const result = { machine, world_digest: createWorld().digest, rows: snake, ratios };
  writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
}
