/**
 * Writes the tables and the picture of docs/speed.md from the recorded runs in bench/results: kernels.json, peers.json, and a
 * file for each GPU.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawPeers } from '../bench/peers/figure.js';
import { svgOf } from '../src/figures/svg.js';
import { type Recorded, type StoredRun, withSpeed } from './speed-page.js';

const at = (path: string): URL => new URL(`../${path}`, import.meta.url);
const RESULTS = 'bench/results/';

/** Reads the recorded runs. @throws Error if kernels.json or peers.json is missing. */
export function readRecorded(): Recorded {
  const files = readdirSync(at(RESULTS)).filter((name) => name.endsWith('.json'));
  const runs = new Map(
    files.map((name) => [name, JSON.parse(readFileSync(at(RESULTS + name), 'utf8')) as StoredRun]),
  );
  const [kernels, peers] = ['kernels.json', 'peers.json'].map((name) => {
    const run = runs.get(name);
    if (run === undefined)
      throw new Error(`Expected ${RESULTS}${name}, found none. Record it: see bench/README.md.`);
    runs.delete(name);
    return run;
  });
  return { kernels, peers, devices: [...runs.values()] };
}

/** Writes the tables and the picture. */
export async function writePages(recorded: Recorded): Promise<void> {
  const page = at('docs/speed.md');
  writeFileSync(page, withSpeed(readFileSync(page, 'utf8'), recorded));
  const { machine, peers } = recorded.peers;
  const cells = peers!.cells.map(({ steps_per_second: stepsPerSecond, ...cell }) => ({
    ...cell,
    stepsPerSecond,
  }));
  writeFileSync(
    at('docs/peers.svg'),
    await svgOf(drawPeers({ players: peers!.players, cells }, machine.cpu)),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writePages(readRecorded());
