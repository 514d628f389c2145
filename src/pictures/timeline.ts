/** One week as a timeline: actions, meters, events, rewards and beliefs, one below the other over the same days. */
import {
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
} from '../world/fields.js';
import { RHYTHM } from '../world/spec.js';
import { checkNumber } from './check.js';
import type { Caption, Drawing } from './drawing.js';
import { ACTION_FACES } from './tapes.js';
import { textWidth, widestOf } from './text-width.js';
import { ACCENT, FONT_SIZE, INK_ON_COLOUR, LIGHT, SERIES } from './theme.js';
import { checkWeek, isGiven, type TimelineWeek, weekInWords } from './timeline-week.js';
import type { Layer, TopView, View } from './view.js';
import { dayOf } from './week.js';

export interface TimelinePicture extends Caption {
  readonly week: TimelineWeek;
  /** How wide it may be, in CSS pixels, from 310 on; by default as wide as a slot reads well. */
  readonly room?: number;
}

const SLOT_WIDTH = 27;
const WIDTH = SLOT_WIDTH * NUM_SLOTS * RHYTHM.days;
const LEAST_WIDTH = 200;
/** In narrower slots an action's mark stands upright. */
const MARK_WIDTH = 20;
/** In narrower days only the first is called one. */
const DAY_WIDTH = 44;
const ACTION_HEIGHT = 26;
const METER_HEIGHT = 44;
const REWARD_HEIGHT = 74;
const BELIEF_HEIGHT = 44;
const LANE_HEIGHT = 17;
const GAP = 8;

/**
 * The week of one person from above to below: the action of each slot, the five meters, events by name, the reward of each
 * slot, and the belief by dimension, against the truth where that is known.
 * @throws InputError `wrong_length`, `wrong_type`, `illegal_action` or `out_of_range` for a week that is none.
 */
export function drawTimeline(picture: TimelinePicture): Drawing {
  const { week, title = 'A week', notes = [], room } = picture;
  checkWeek(week);
  if (room !== undefined) checkNumber('room', room);
  const width = room === undefined ? WIDTH : Math.max(LEAST_WIDTH, Math.floor(room - MARGIN));
  const spec: TopView = {
    title: { text: title, subtitle: [...captionOf(week), ...notes] },
    vconcat: [
      actionsRow(week, width),
      ...METER_NAMES.map((meter, k) => meterRow(week, meter, k)),
      eventsRow(week, width),
      rewardsRow(week),
      ...(week.beliefs === undefined ? [] : BELIEF_NAMES.map((belief, k) => beliefRow(week, belief, k))),
      daysRow(width),
    ].map((panel) => ({ ...panel, width })),
    spacing: GAP,
    // Panels stand exactly below each other, however wide their labels are.
    bounds: 'flush',
  };
  return { title, description: `${title}: ${weekInWords(week)}`, spec };
}

const { crashThreshold } = RHYTHM.constants;

function captionOf({ beliefs, target }: TimelineWeek): string[] {
  const marks = ACTION_FACES.map(({ mark, action }) => `${mark} ${action}`);
  const believed =
    target === undefined ? 'Beliefs as given.' : 'Beliefs as given (line) and the truth (dashed).';
  return [
    `${marks.slice(0, 5).join(', ')},`,
    `${marks.slice(5).join(', ')}.`,
    `Meters after each slot; dashed: ${crashThreshold}, below which one counts as crashed. ${beliefs === undefined ? 'No beliefs were given.' : believed}`,
    'Rewards as given: luck included, and in the last slot a part of the grade.',
  ];
}

const MIDNIGHTS = Array.from({ length: RHYTHM.days + 1 }, (_, day) => day);
const DAYS = { domain: [0, RHYTHM.days], nice: false };
const SHARES = { domain: [0, 1] };
const ENDS = [0, 1];
/** Every panel has the nights as its grid; the names of the days stand below the last. */
const X_AXIS = { values: MIDNIGHTS, grid: true, labels: false, ticks: false, domain: false, title: null };
const inDays = (field: string) => ({ field, type: 'quantitative', scale: DAYS, axis: X_AXIS }) as const;
const SPAN = { x: inDays('from'), x2: { field: 'to' } } as const;

/** A panel's name stands at its left, upright. */
const named = (title: string, titleX: number) => ({
  title,
  titleAngle: 0,
  titleAlign: 'right' as const,
  titleBaseline: 'middle' as const,
  titleX,
});
const NAME_X = -32;
/** What stands beside the days: the panels' names and scales. */
const MARGIN = widestOf([...METER_NAMES, ...BELIEF_NAMES]) - NAME_X + 8;
const share = (field: string, name: string) =>
  ({
    field,
    type: 'quantitative',
    scale: SHARES,
    axis: {
      ...named(name, NAME_X),
      values: ENDS,
      format: 'd',
      tickSize: 3,
      labelFlush: true,
      titleY: METER_HEIGHT / 2,
    },
  }) as const;

const slotOf = (step: number) => ({ from: dayOf(step), to: dayOf(step + 1), middle: dayOf(step + 0.5) });

function actionsRow({ actions }: TimelineWeek, width: number): View {
  const slot = width / (NUM_SLOTS * RHYTHM.days);
  const upright = slot < MARK_WIDTH && { angle: 270, fontSize: Math.min(9, slot) };
  const values = Array.from(actions, (action, step) => ({
    ...slotOf(step),
    ...ACTION_FACES[action],
    row: 'actions',
  }));
  const y = { field: 'row', type: 'nominal', axis: { ...named('actions', NAME_X), ...BARE } } as const;
  return {
    height: ACTION_HEIGHT,
    data: { values },
    encoding: { y: { ...y, axis: { ...y.axis, titleY: ACTION_HEIGHT / 2 } } },
    layer: [
      {
        mark: {
          type: 'rect',
          stroke: LIGHT.paper,
          strokeWidth: slot < MARK_WIDTH ? 0.75 : 1.5,
          height: { band: 1 },
        },
        encoding: { ...SPAN, color: { field: 'colour', type: 'nominal', scale: null } },
      },
      {
        mark: { type: 'text', color: INK_ON_COLOUR, ...upright },
        encoding: { x: inDays('middle'), text: { field: 'mark', type: 'nominal' } },
      },
    ],
  };
}

const BARE = { labels: false, ticks: false, domain: false, grid: false } as const;

function meterRow({ actions, meters }: TimelineWeek, meter: string, k: number): View {
  const values = Array.from({ length: actions.length + 1 }, (_, step) => ({
    day: dayOf(step),
    value: meters[step * NUM_METERS + k],
  }));
  const line: Layer = {
    data: { values },
    mark: { type: 'line', color: SERIES, strokeWidth: 2, point: values.length === 1 && { color: SERIES } },
    encoding: { x: inDays('day'), y: share('value', meter) },
  };
  return { height: METER_HEIGHT, layer: [crashLine(meter), line] };
}

const crashLine = (meter: string): Layer => ({
  data: { values: [{ value: crashThreshold }] },
  mark: { type: 'rule', color: LIGHT.muted, strokeDash: [3, 3] },
  encoding: { y: share('value', meter) },
});

/** Names beside each other where there is room, else below each other. */
function eventsRow({ events }: TimelineWeek, width: number): View {
  const values = inLanes(events, width);
  const lanes = Math.max(1, ...values.map(({ lane }) => lane + 1));
  const height = lanes * LANE_HEIGHT;
  const scale = { domain: [0, lanes], reverse: true, nice: false };
  const y = {
    field: 'lane',
    type: 'quantitative',
    scale,
    axis: { ...named('events', NAME_X), ...BARE, titleY: height / 2 },
  } as const;
  const text = (align: 'left' | 'right', end: boolean): Layer => ({
    transform: [{ filter: { field: 'end', equal: end } }],
    mark: { type: 'text', align, dx: align === 'left' ? DOT_WIDTH : -DOT_WIDTH, dy: LANE_HEIGHT / 2 },
    encoding: { x: inDays('middle'), y, text: { field: 'event', type: 'nominal' } },
  });
  const dots: Layer = {
    mark: {
      type: 'point',
      filled: true,
      shape: 'diamond',
      color: ACCENT,
      size: 50,
      opacity: 1,
      yOffset: LANE_HEIGHT / 2,
    },
    encoding: { x: inDays('middle'), y },
  };
  return { height, data: { values }, layer: [dots, text('left', false), text('right', true)] };
}

const DOT_WIDTH = 8;

interface PlacedEvent {
  readonly event: string;
  readonly middle: number;
  /** Whether its name stands on the left of its mark: at the week's end it would not fit elsewhere. */
  readonly end: boolean;
  readonly lane: number;
}

function inLanes(events: ArrayLike<number>, room: number): PlacedEvent[] {
  /** Where the last name of each lane ends. */
  const ends: number[] = [];
  return Array.from(events, (event, step) => ({ event, step }))
    .filter(({ event }) => event >= 0)
    .map(({ event, step }) => {
      const name = EVENT_NAMES[event].replaceAll('_', ' ');
      const width = textWidth(name, FONT_SIZE) + 2 * DOT_WIDTH;
      const { middle } = slotOf(step);
      const x = (middle / RHYTHM.days) * room;
      const end = x + width > room;
      const left = end ? x - width : x - DOT_WIDTH;
      const free = ends.findIndex((taken) => taken <= left);
      const lane = free < 0 ? ends.length : free;
      ends[lane] = end ? x + DOT_WIDTH : x + width;
      return { event: name, middle, end, lane };
    });
}

function rewardsRow({ rewards }: TimelineWeek): View {
  const values = Array.from(rewards, (reward, step) => ({ ...slotOf(step), reward }));
  const most = Math.ceil(Math.max(1, ...values.map(({ reward }) => Math.abs(reward))));
  const scale = { domain: [-most, most], nice: false };
  const ticks = { values: [-most, 0, most], format: 'd', tickSize: 3, labelFlush: true };
  const axis = { ...named('reward', NAME_X), ...ticks, titleY: REWARD_HEIGHT / 2 };
  const y = { type: 'quantitative', scale, axis } as const;
  return {
    height: REWARD_HEIGHT,
    layer: [
      {
        data: { values },
        // Of the fill alone: with an opacity of its own every bar would be a layer as large as the picture.
        mark: { type: 'rect', color: SERIES, fillOpacity: 0.7, stroke: LIGHT.paper, strokeWidth: 1 },
        encoding: { ...SPAN, y: { ...y, field: 'reward' }, y2: { datum: 0 } },
      },
      {
        data: { values: [{ reward: 0 }] },
        mark: { type: 'rule', color: LIGHT.muted },
        encoding: { y: { ...y, field: 'reward' } },
      },
    ],
  };
}

function beliefRow({ actions, beliefs, target }: TimelineWeek, belief: string, k: number): View {
  const values = Array.from(actions, (_, step) => step)
    .filter((step) => isGiven(beliefs!, step))
    .map((step) => ({ ...slotOf(step), value: beliefs![step * NUM_BELIEFS + k] }));
  const y = share('value', belief);
  const truth: Layer[] =
    target === undefined
      ? []
      : [
          {
            data: { values: [{ value: target[k] }] },
            mark: { type: 'rule', color: ACCENT, strokeDash: [6, 3], strokeWidth: 2 },
            encoding: { y },
          },
        ];
  const said: Layer = {
    data: { values },
    // What was said holds until something else is.
    mark: {
      type: 'line',
      interpolate: 'step-after',
      color: SERIES,
      strokeWidth: 2,
      point: { size: 16, filled: true, color: SERIES },
    },
    encoding: { x: inDays('middle'), y },
  };
  return { height: BELIEF_HEIGHT, layer: [...truth, said] };
}

/** The names of the days, once. */
function daysRow(width: number): View {
  const isNarrow = width / RHYTHM.days < DAY_WIDTH;
  const values = MIDNIGHTS.slice(0, -1).map((day) => ({
    middle: day + 0.5,
    name: isNarrow && day > 0 ? String(day + 1) : `day ${day + 1}`,
  }));
  return {
    height: FONT_SIZE + 2,
    data: { values },
    mark: { type: 'text', color: LIGHT.muted },
    encoding: { x: { ...inDays('middle'), axis: null }, text: { field: 'name', type: 'nominal' } },
  };
}
