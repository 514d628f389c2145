/** Figure: steps per second of each player (the engine, its reference and the peers), by the number of episodes. */
import type { Drawing } from '../../dist/figures/figure.js';
import { COMPONENT_COLOURS, type TopView, widestOf } from '../../dist/figures/theme.js';

/** The colours of the lines, in the order of the players. All are visible on the light and the dark theme. */
const COLOURS = [7, 5, 1, 4, 2, 3, 0].map((k) => COMPONENT_COLOURS[k]);
const AXIS = { grid: true, labelFlush: false } as const;
const LOG = { type: 'log', nice: false } as const;

interface Cell {
  readonly name: string;
  readonly episodes: number;
  readonly stepsPerSecond: number;
}

export interface PeersPicture {
  readonly players: readonly { readonly name: string; readonly missing: string | null }[];
  readonly cells: readonly Cell[];
}

/** Draws a line for each player that was measured; both axes are logarithmic. @param cpu names the processor. */
export function drawPeers({ players, cells }: PeersPicture, cpu: string): Drawing {
  const names = players.flatMap(({ name, missing }) => (missing === null ? [name] : []));
  const title = 'Steps per second, by the number of episodes';
  const subtitle = `One thread, one call for each step of a batch. ${cpu}. Medians; both axes are logarithmic.`;
  const sizes = [...new Set(cells.map(({ episodes }) => episodes))];
  // Every second size, counted back from the last: labels of neighbours would overlap.
  const labels = { values: sizes.filter((_, k) => (sizes.length - k) % 2 === 1), format: ',' };
  const symbols = { symbolType: 'stroke', symbolStrokeWidth: 2.5, columnPadding: widestOf(names) } as const;
  const spec: TopView = {
    title: { text: title, subtitle: [subtitle] },
    // The sizes in pixels are chosen by hand.
    width: 470,
    height: 320,
    data: { values: cells.map(({ name, episodes, stepsPerSecond }) => ({ name, episodes, stepsPerSecond })) },
    encoding: {
      x: {
        field: 'episodes',
        type: 'quantitative',
        scale: { ...LOG, domain: [1, Math.max(...sizes)] },
        axis: { ...AXIS, title: 'episodes', ...labels },
      },
      y: {
        field: 'stepsPerSecond',
        type: 'quantitative',
        scale: LOG,
        axis: { ...AXIS, title: 'steps per second', tickCount: 6, format: '~s' },
      },
      color: {
        field: 'name',
        type: 'nominal',
        scale: { domain: names, range: COLOURS.slice(0, names.length) },
        legend: { orient: 'right', ...symbols },
      },
    },
    mark: { type: 'line', point: { size: 24 }, strokeWidth: 2 },
  };
  return { title, description: names.map((name) => inWords(name, cells)).join(' '), spec };
}

/** Describes the line of a player in text. */
function inWords(name: string, cells: readonly Cell[]): string {
  const own = cells.filter((cell) => cell.name === name);
  const text = ({ episodes, stepsPerSecond }: Cell) =>
    `${(stepsPerSecond / 1e6).toPrecision(3)} million with ${episodes.toLocaleString('en')}`;
  return `${name}: ${own.map(text).join(', ')}.`;
}
