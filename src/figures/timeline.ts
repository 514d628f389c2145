/** Figure: one episode as a timeline of actions, meters, events, rewards and beliefs. */
import {
  BELIEF_NAMES,
  EVENT_NAMES,
  METER_NAMES,
  NUM_BELIEFS,
  NUM_METERS,
  NUM_SLOTS,
} from '../world/fields.js';
import { RHYTHM } from '../world/numbers.js';
import { ACTION_STYLES } from './action-sequences.js';
import { dayOf } from './episode-axis.js';
import { type Caption, checkNumber, type Drawing } from './figure.js';
import {
  ACCENT,
  COLOUR,
  FONT_SIZE,
  INK_ON_COLOUR,
  type Layer,
  LIGHT,
  SERIES,
  type TopView,
  textWidth,
  type View,
  widestOf,
} from './theme.js';
import { checkEpisode, episodeInWords, isStated, type TimelineEpisode } from './timeline-episode.js';

/** The data of the figure. */
export interface TimelinePicture extends Caption {
  readonly episode: TimelineEpisode;
  /**
   * Maximum width in CSS pixels. If it is less than 310 (about `MIN_WIDTH` plus `MARGIN`), the figure may be wider. Default:
   * slots of 27 pixels.
   */
  readonly maxWidth?: number;
}

const plain = (name: string): string => name.replaceAll('_', ' ');

/** Widths in pixels: of a slot and of all slots by default, and the minimum of all slots. */
const SLOT_WIDTH = 27;
const WIDTH = SLOT_WIDTH * NUM_SLOTS * RHYTHM.days;
const MIN_WIDTH = 200;
/** In slots narrower than this, two letters stand for an action: its rotated name needs the font size, 11, and some space. */
const NAME_WIDTH = 13;
/** If days are narrower than this, only the label of the first day has the word "day". "day 7" takes up to 33 pixels. */
const DAY_WIDTH = 44;
/** The height of the panel of actions: with two letters in each slot, and with rotated names. */
const MARK_HEIGHT = 26;
const NAME_HEIGHT = widestOf(ACTION_STYLES.map(({ action }) => plain(action))) + 8;
/** The heights of panels, and of a lane of events. */
const METER_HEIGHT = 44;
const REWARD_HEIGHT = 74;
const BELIEF_HEIGHT = 44;
const LANE_HEIGHT = 17;
/** The space between panels. */
const GAP = 8;

/**
 * Draws one episode, from top to bottom: actions, the five meters, events, rewards, and beliefs by dimension with their
 * targets if known.
 * @throws InputError `wrong_length`, `wrong_type`, `illegal_action` or `out_of_range` for an invalid episode; `out_of_range`
 *   for a `maxWidth` that is not a finite number.
 */
export function drawTimeline(picture: TimelinePicture): Drawing {
  const { episode, title = 'An episode', notes = [], maxWidth } = picture;
  checkEpisode(episode);
  if (maxWidth !== undefined) checkNumber('maxWidth', maxWidth);
  const width = maxWidth === undefined ? WIDTH : Math.max(MIN_WIDTH, Math.floor(maxWidth - MARGIN));
  const spec: TopView = {
    title: { text: title, subtitle: [...captionOf(episode, width), ...notes] },
    vconcat: [
      actionsRow(episode, width),
      ...METER_NAMES.map((meter, k) => meterRow(episode, meter, k)),
      eventsRow(episode, width),
      rewardsRow(episode),
      ...(episode.beliefs === undefined
        ? []
        : BELIEF_NAMES.map((belief, k) => beliefRow(episode, belief, k))),
      daysRow(width),
    ].map((panel) => ({ ...panel, width })),
    spacing: GAP,
    // Aligns the panels even if the widths of their labels differ.
    bounds: 'flush',
  };
  return { title, description: `${title}: ${episodeInWords(episode)}`, spec };
}

const { crashThreshold } = RHYTHM.constants;

function captionOf({ beliefs, target }: TimelineEpisode, width: number): string[] {
  const marks = ACTION_STYLES.map(({ mark, action }) => `${mark} ${plain(action)}`);
  const beliefNote =
    target === undefined ? 'Stated beliefs.' : 'Stated beliefs (line) and belief targets (dashed).';
  return [
    ...(hasNames(width) ? [] : [`${marks.slice(0, 5).join(', ')},`, `${marks.slice(5).join(', ')}.`]),
    `Meters after each step; dashed: ${crashThreshold}, below which a meter counts as crashed. ${beliefs === undefined ? 'No beliefs were stated.' : beliefNote}`,
    'Rewards as received: with noise, and at the last step with a part of the grade.',
  ];
}

const MIDNIGHTS = Array.from({ length: RHYTHM.days + 1 }, (_, day) => day);
const DAYS = { domain: [0, RHYTHM.days], nice: false };
const UNIT_SCALE = { domain: [0, 1] };
const UNIT_TICKS = [0, 1];
/** Draws a grid line at each midnight. `daysRow` draws the names of the days. */
const X_AXIS = { values: MIDNIGHTS, grid: true, labels: false, ticks: false, domain: false, title: null };
const inDays = (field: string) => ({ field, type: 'quantitative', scale: DAYS, axis: X_AXIS }) as const;
const SPAN = { x: inDays('from'), x2: { field: 'to' } } as const;

/** Returns axis options that write a panel's name at its left, horizontally. */
const nameAxis = (title: string, titleX: number) => ({
  title,
  titleAngle: 0,
  titleAlign: 'right' as const,
  titleBaseline: 'middle' as const,
  titleX,
});
/** The right end of the names at the left of the panels, in pixels. */
const NAME_X = -32;
/** The width of names and axes at the left of the days. */
const MARGIN = widestOf([...METER_NAMES, ...BELIEF_NAMES]) - NAME_X + 8;
/** Returns a y channel with the range [0, 1] and a name at its left. */
const unitChannel = (field: string, name: string) =>
  ({
    field,
    type: 'quantitative',
    scale: UNIT_SCALE,
    axis: {
      ...nameAxis(name, NAME_X),
      values: UNIT_TICKS,
      format: 'd',
      tickSize: 3,
      labelFlush: true,
      titleY: METER_HEIGHT / 2,
    },
  }) as const;

const widthOfSlot = (width: number): number => width / (NUM_SLOTS * RHYTHM.days);
const hasNames = (width: number): boolean => widthOfSlot(width) >= NAME_WIDTH;

const slotOf = (step: number) => ({ from: dayOf(step), to: dayOf(step + 1), middle: dayOf(step + 0.5) });

function actionsRow({ actions }: TimelineEpisode, width: number): View {
  const isNamed = hasNames(width);
  const height = isNamed ? NAME_HEIGHT : MARK_HEIGHT;
  const fontSize = isNamed ? FONT_SIZE : Math.min(9, widthOfSlot(width));
  const values = Array.from(actions, (action, step) => ({
    ...slotOf(step),
    ...ACTION_STYLES[action],
    text: isNamed ? plain(ACTION_STYLES[action].action) : ACTION_STYLES[action].mark,
    row: 'actions',
  }));
  const y = { field: 'row', type: 'nominal', axis: { ...nameAxis('actions', NAME_X), ...BARE } } as const;
  return {
    height,
    data: { values },
    encoding: { y: { ...y, axis: { ...y.axis, titleY: height / 2 } } },
    layer: [
      {
        mark: {
          type: 'rect',
          stroke: LIGHT.paper,
          strokeWidth: isNamed ? 1.5 : 0.75,
          height: { band: 1 },
        },
        encoding: { ...SPAN, color: COLOUR },
      },
      {
        mark: { type: 'text', color: INK_ON_COLOUR, angle: 270, fontSize },
        encoding: { x: inDays('middle'), text: { field: 'text', type: 'nominal' } },
      },
    ],
  };
}

/** Hides all parts of an axis except its title. */
const BARE = { labels: false, ticks: false, domain: false, grid: false } as const;

function meterRow({ actions, meters }: TimelineEpisode, meter: string, k: number): View {
  const values = Array.from({ length: actions.length + 1 }, (_, step) => ({
    day: dayOf(step),
    value: meters[step * NUM_METERS + k],
  }));
  const line: Layer = {
    data: { values },
    mark: { type: 'line', color: SERIES, strokeWidth: 2, point: values.length === 1 && { color: SERIES } },
    encoding: { x: inDays('day'), y: unitChannel('value', meter) },
  };
  return { height: METER_HEIGHT, layer: [crashLine(meter), line] };
}

const crashLine = (meter: string): Layer => ({
  data: { values: [{ value: crashThreshold }] },
  mark: { type: 'rule', color: LIGHT.muted, strokeDash: [3, 3] },
  encoding: { y: unitChannel('value', meter) },
});

/** Draws the events in lanes, one below the other. A name that does not fit beside another moves to the next lane. */
function eventsRow({ events }: TimelineEpisode, width: number): View {
  const values = inLanes(events, width);
  const lanes = Math.max(1, ...values.map(({ lane }) => lane + 1));
  const height = lanes * LANE_HEIGHT;
  const scale = { domain: [0, lanes], reverse: true, nice: false };
  const y = {
    field: 'lane',
    type: 'quantitative',
    scale,
    axis: { ...nameAxis('events', NAME_X), ...BARE, titleY: height / 2 },
  } as const;
  const names = ({ nameAtLeft }: Pick<PlacedEvent, 'nameAtLeft'>): Layer => ({
    transform: [{ filter: { field: 'nameAtLeft', equal: nameAtLeft } }],
    mark: {
      type: 'text',
      align: nameAtLeft ? 'right' : 'left',
      dx: nameAtLeft ? -DOT_RADIUS : DOT_RADIUS,
      dy: LANE_HEIGHT / 2,
    },
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
  return {
    height,
    data: { values },
    layer: [dots, names({ nameAtLeft: false }), names({ nameAtLeft: true })],
  };
}

/** Half of the width of the space for an event's mark, in pixels. */
const DOT_RADIUS = 8;

interface PlacedEvent {
  readonly event: string;
  readonly middle: number;
  /** Whether the name is at the left of the mark, because it does not fit at the right. */
  readonly nameAtLeft: boolean;
  readonly lane: number;
}

/** Places events in lanes so that their names do not overlap. */
function inLanes(events: ArrayLike<number>, totalWidth: number): PlacedEvent[] {
  /** The right end of the last event in each lane. */
  const ends: number[] = [];
  return Array.from(events, (event, step) => ({ event, step }))
    .filter(({ event }) => event >= 0)
    .map(({ event, step }) => {
      const name = plain(EVENT_NAMES[event]);
      const width = textWidth(name, FONT_SIZE) + 2 * DOT_RADIUS;
      const { middle } = slotOf(step);
      const x = (middle / RHYTHM.days) * totalWidth;
      const nameAtLeft = x + width > totalWidth;
      const left = nameAtLeft ? x - width : x - DOT_RADIUS;
      const freeLane = ends.findIndex((end) => end <= left);
      const lane = freeLane < 0 ? ends.length : freeLane;
      ends[lane] = nameAtLeft ? x + DOT_RADIUS : x + width;
      return { event: name, middle, nameAtLeft, lane };
    });
}

function rewardsRow({ rewards }: TimelineEpisode): View {
  const values = Array.from(rewards, (reward, step) => ({ ...slotOf(step), reward }));
  const maxReward = Math.ceil(Math.max(1, ...values.map(({ reward }) => Math.abs(reward))));
  const scale = { domain: [-maxReward, maxReward], nice: false };
  const ticks = { values: [-maxReward, 0, maxReward], format: 'd', tickSize: 3, labelFlush: true };
  const axis = { ...nameAxis('reward', NAME_X), ...ticks, titleY: REWARD_HEIGHT / 2 };
  const y = { type: 'quantitative', scale, axis } as const;
  return {
    height: REWARD_HEIGHT,
    layer: [
      {
        data: { values },
        // Only the fill is transparent. A transparent mark with fill and stroke needs a buffer as large as the figure.
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

function beliefRow({ actions, beliefs, target }: TimelineEpisode, belief: string, k: number): View {
  const values = Array.from(actions, (_, step) => step)
    .filter((step) => isStated(beliefs!, step))
    .map((step) => ({ ...slotOf(step), value: beliefs![step * NUM_BELIEFS + k] }));
  const y = unitChannel('value', belief);
  const targetLine: Layer[] =
    target === undefined
      ? []
      : [
          {
            data: { values: [{ value: target[k] }] },
            mark: { type: 'rule', color: ACCENT, strokeDash: [6, 3], strokeWidth: 2 },
            encoding: { y },
          },
        ];
  const line: Layer = {
    data: { values },
    // A belief holds until another is stated.
    mark: {
      type: 'line',
      interpolate: 'step-after',
      color: SERIES,
      strokeWidth: 2,
      point: { size: 16, filled: true, color: SERIES },
    },
    encoding: { x: inDays('middle'), y },
  };
  return { height: BELIEF_HEIGHT, layer: [...targetLine, line] };
}

/** Draws the names of the days. */
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
