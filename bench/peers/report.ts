/** Formats the figures of `--peers`. */
import { digits, table } from '../report.js';
import type { PeersResult } from './measure.js';

/** Renders the millions of steps per second, and the players that are missing. */
export function renderPeers({ players, cells }: PeersResult): string {
  const present = players.filter(({ missing }) => missing === null);
  const sizes = [...new Set(cells.map(({ episodes }) => episodes))];
  const rateOf = (name: string, size: number) =>
    cells.find((cell) => cell.name === name && cell.episodes === size)?.stepsPerSecond ?? null;
  const lines = sizes.map((size) => [
    size,
    ...present.map(({ name }) => {
      const rate = rateOf(name, size);
      return digits(rate === null ? null : rate / 1e6, 3, '-');
    }),
  ]);
  const missing = players.flatMap(({ name, missing }) =>
    missing === null ? [] : [`${name} is missing: ${missing}`],
  );
  return [
    'Peers: millions of steps per second on one thread, by the number of episodes',
    table(['episodes', ...present.map(({ name }) => name)], lines),
    ...missing,
  ].join('\n');
}
