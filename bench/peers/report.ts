/** Formats the figures of `--peers`. */
import { digits, ratiosToJson, renderRatios, table } from '../report.js';
import type { PeersResult } from './measure.js';

/** Returns the figures for the JSON file, with ratios by name, and with targets and whether each is met. */
export const peersToJson = ({ ratios, ...figures }: PeersResult) => ({
  ...figures,
  ...ratiosToJson({ ratios, leftOut: [] }),
});

/** Renders a table of millions of steps per second, the players that are missing, and the ratios. */
export function renderPeers({ players, cells, ratios }: PeersResult): string {
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
    ...(ratios.length === 0 ? [] : [renderRatios({ ratios, leftOut: [] })]),
  ].join('\n');
}
