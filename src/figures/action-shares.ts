/** Figure: how often each player takes each of the ten actions, by group of profiles. One heat map for each player. */
import { ACTION_NAMES, NUM_ACTIONS } from '../world/fields.js';
import { type Caption, checkNames, checkNumbers, type Drawing, type Named } from './figure.js';
import {
  decimal,
  type Layer,
  LIGHT,
  NAME_AXIS,
  panelTitle,
  SERIES,
  type TopView,
  type View,
} from './theme.js';

/** The action shares of one group of profiles. */
export interface ActionUse extends Named {
  /** [10] by code: shares of all steps, 0 to 1. */
  readonly shares: ArrayLike<number>;
}

/** The data of the figure. */
export interface ActionsPicture extends Caption {
  /** Players from the top, each with its groups of profiles from the top. */
  readonly players: readonly (Named & { readonly rows: readonly ActionUse[] })[];
}

type Player = ActionsPicture['players'][number];

/** Sizes in pixels, chosen by hand like the space below. */
const CELL_WIDTH = 68;
const ROW_HEIGHT = 22;
/** The space between panels. It holds the name and the action labels of the next panel. */
const GAP = 60;
/** The opacity of the largest share. Text on it stays legible in both themes. */
const MAX_OPACITY = 0.6;

/**
 * Draws a row for each group of profiles and a column for each action. Cells are shares of all steps in percent.
 * @throws InputError `wrong_length`, `wrong_type` or `out_of_range` for invalid players or rows.
 */
export function drawActions(picture: ActionsPicture): Drawing {
  const { players, title = 'Use of the ten actions', notes = [] } = picture;
  checkNames('players', players);
  for (const { name, rows } of players) {
    checkNames(`rows of "${name}"`, rows);
    for (const row of rows) checkNumbers(`the shares of "${row.name}"`, row.shares, NUM_ACTIONS, 'actions');
  }
  const maxShare = Math.max(
    ...players.flatMap(({ rows }) => rows.flatMap(({ shares }) => Array.from(shares))),
    // Keeps the scale of opacities valid if all shares are 0.
    0.01,
  );
  const spec: TopView = {
    title: {
      text: title,
      subtitle: ['Share of all steps in percent. A stronger colour is a larger share.', ...notes],
    },
    vconcat: players.map((player) => panelOf(player, maxShare)),
    spacing: GAP,
    bounds: 'flush',
  };
  return { title, description: players.map(inWords).join(' '), spec };
}

const cellsOf = ({ name, shares }: ActionUse) =>
  ACTION_NAMES.map((action, code) => ({
    name,
    action,
    share: shares[code],
    // Whole percent, below 0.95 % with a decimal, such as 0.9; empty for 0.
    percent: shares[code] === 0 ? '' : decimal(100 * shares[code], shares[code] < 0.0095 ? 1 : 0),
  }));

function panelOf({ name, rows }: Player, maxShare: number): View {
  return {
    title: panelTitle(name),
    width: { step: CELL_WIDTH },
    height: { step: ROW_HEIGHT },
    data: { values: rows.flatMap(cellsOf) },
    encoding: { x: ACTIONS, y: { ...GROUP_NAMES, sort: rows.map((row) => row.name) } },
    layer: [
      { mark: { type: 'rect', fill: null, stroke: LIGHT.rule, strokeWidth: 0.5 } },
      {
        mark: { type: 'rect', color: SERIES },
        encoding: {
          opacity: {
            field: 'share',
            type: 'quantitative',
            scale: { domain: [0, maxShare], range: [0, MAX_OPACITY] },
            legend: null,
          },
        },
      },
      NUMBERS,
    ],
  };
}

const ACTIONS = {
  field: 'action',
  type: 'nominal',
  sort: null,
  axis: { ...NAME_AXIS, orient: 'top', labelAngle: 0, labelPadding: 4 },
} as const;
const GROUP_NAMES = { field: 'name', type: 'nominal', axis: { ...NAME_AXIS, labelPadding: 8 } } as const;

const NUMBERS: Layer = {
  mark: { type: 'text' },
  encoding: { text: { field: 'percent', type: 'nominal' } },
};

/** Describes the three most frequent actions of each row. */
function inWords({ name, rows }: Player): string {
  const parts = rows.map((row) => {
    const sorted = ACTION_NAMES.map((action, code) => ({ action, share: row.shares[code] }));
    sorted.sort((a, b) => b.share - a.share);
    const mostUsed = sorted.slice(0, 3).map(({ action, share }) => `${action} ${decimal(100 * share, 0)} %`);
    return `${row.name}: ${mostUsed.join(', ')}`;
  });
  return `${name}: most used, ${parts.join('; ')}.`;
}
