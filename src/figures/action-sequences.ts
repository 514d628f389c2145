/** Figure: action sequences, one row for each policy and one column for each slot. */
import { illegalAction, isAction } from '../engine/validate/steps.js';
import { NUM_SLOTS, NUM_STEPS } from '../world/fields.js';
import { RHYTHM } from '../world/numbers.js';
import { daysInWords } from './episode-axis.js';
import { type Caption, checkList, checkNames, type Drawing, type Named } from './figure.js';
import {
  CATEGORY_SHADES,
  COLOUR,
  INK_ON_COLOUR,
  LIGHT,
  NAME_AXIS,
  type TopView,
  type View,
} from './theme.js';

/** The action sequence of one policy. */
export interface ActionSequenceRow extends Named {
  /** Action codes, [28] by step. */
  readonly actions: ArrayLike<number>;
}

/** The data of the figure. */
export interface ActionSequencePicture extends Caption {
  /** In order from the top. */
  readonly rows: readonly ActionSequenceRow[];
}

/** Sizes in pixels. */
const SLOT_WIDTH = 25;
const ROW_HEIGHT = 26;
const DAY_GAP = 7;
const LEGEND_WIDTH = 130;
const LEGEND_HEIGHT = 20;

/** The style of an action in cells and in the legend. */
interface ActionStyle {
  readonly action: string;
  readonly category: string;
  /** Two letters, unique among the actions. */
  readonly mark: string;
  readonly colour: string;
  /** The index of the action within its category. */
  readonly place: number;
}

/** The styles by action code. */
export const ACTION_STYLES: readonly ActionStyle[] = RHYTHM.actions.map(({ name, category }, code) => {
  const place = RHYTHM.actions.slice(0, code).filter((other) => other.category === category).length;
  const colour = CATEGORY_SHADES[RHYTHM.categories.indexOf(category)][place];
  return { action: name, category, mark: markOf(name), colour, place };
});

/** Abbreviates an action: `deep_work` is DW, `sleep` is Sl. */
function markOf(name: string): string {
  const [first, second] = name.split('_');
  const letters = second === undefined ? first.slice(1, 2) : second.slice(0, 1).toUpperCase();
  return first.slice(0, 1).toUpperCase() + letters;
}

/**
 * Draws a row for each policy and a cell for each slot, by day. Colours stand for categories; shades and letters stand for
 * actions.
 * @throws InputError `illegal_action`, `wrong_length`, `wrong_type` or `out_of_range` for invalid rows.
 */
export function drawActionSequences(picture: ActionSequencePicture): Drawing {
  const { rows, title = 'Actions of each policy' } = picture;
  checkNames('rows', rows);
  for (const row of rows) checkSequence(row);
  const spec: TopView = {
    title: { text: title, subtitle: [...notesOf(picture)] },
    vconcat: [cellsView(rows), LEGEND],
    spacing: 18,
  };
  const descriptions = rows.map(({ name, actions }) => `${name}: ${daysInWords(actions)}.`);
  return { title, description: descriptions.join(' '), spec };
}

function checkSequence({ name, actions }: ActionSequenceRow): void {
  checkList(`the actions of "${name}"`, actions, NUM_STEPS, 'steps of an episode');
  for (let step = 0; step < NUM_STEPS; step++) {
    const action = actions[step];
    if (isAction(action)) continue;
    const where = `the action of "${name}" at step ${step}`;
    throw illegalAction(where, action, { remedy: 'Pass a code in that range.' });
  }
}

const initial = (slot: string): string => slot.slice(0, 1).toUpperCase();

const notesOf = ({ notes = [] }: Caption): readonly string[] => [
  `One cell for each slot of the day: ${RHYTHM.slots.map((slot) => `${initial(slot)} ${slot}`).join(', ')}.`,
  ...notes,
];

const cellsOf = ({ name, actions }: ActionSequenceRow) =>
  Array.from({ length: NUM_STEPS }, (_, step) => ({
    name,
    day: Math.floor(step / NUM_SLOTS) + 1,
    slot: initial(RHYTHM.slots[step % NUM_SLOTS]),
    ...ACTION_STYLES[actions[step]],
  }));

const CELL = { type: 'rect', stroke: LIGHT.paper, strokeWidth: 1.5 } as const;
const MARK = {
  mark: { type: 'text', color: INK_ON_COLOUR },
  encoding: { text: { field: 'mark', type: 'nominal' } },
} as const;

function cellsView(rows: readonly ActionSequenceRow[]): View {
  const names = rows.map(({ name }) => name);
  return {
    data: { values: rows.flatMap(cellsOf) },
    facet: {
      column: { field: 'day', type: 'ordinal', header: { title: null, labelExpr: "'day ' + datum.value" } },
    },
    spacing: DAY_GAP,
    spec: {
      width: { step: SLOT_WIDTH },
      height: { step: ROW_HEIGHT },
      encoding: {
        x: {
          field: 'slot',
          type: 'ordinal',
          sort: null,
          axis: { title: null, labelAngle: 0, domain: false, ticks: false },
        },
        y: {
          field: 'name',
          type: 'nominal',
          sort: names,
          axis: { ...NAME_AXIS, labelPadding: 8 },
        },
      },
      layer: [{ mark: CELL, encoding: { color: COLOUR } }, MARK],
    },
  };
}

const LEGEND: View = {
  data: { values: [...ACTION_STYLES] },
  facet: {
    column: {
      field: 'category',
      type: 'nominal',
      sort: [...RHYTHM.categories],
      header: { title: null, labelAnchor: 'start' },
    },
  },
  spacing: 24,
  spec: {
    width: LEGEND_WIDTH,
    height: { step: LEGEND_HEIGHT },
    encoding: { y: { field: 'place', type: 'ordinal', axis: null } },
    layer: [
      { mark: { ...CELL, x: 0, x2: SLOT_WIDTH }, encoding: { color: COLOUR } },
      { mark: { ...MARK.mark, x: SLOT_WIDTH / 2 }, encoding: MARK.encoding },
      {
        mark: { type: 'text', align: 'left', x: SLOT_WIDTH + 6 },
        encoding: { text: { field: 'action', type: 'nominal' } },
      },
    ],
  },
};
