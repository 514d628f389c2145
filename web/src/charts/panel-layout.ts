/** The places of panels and of their points, in pixels. */
import { NUM_SLOTS, NUM_STEPS } from '../../../src/world/fields.js';

/** Where the panels of a chart are. Lengths are pixels. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly plotWidth: number;
  readonly plotHeight: number;
  /** The upper left corner of the plot of each panel. */
  readonly places: readonly { readonly left: number; readonly top: number }[];
  /** The middle of each day, from the left of a plot. */
  readonly days: readonly { readonly day: number; readonly x: number }[];
  /** Points per line: NUM_STEPS, one after each slot, or one more if the first point is the start of the week. */
  readonly points: number;
}

// The lengths are in pixels, and chosen by hand.

/** The smallest width of a plot with its right margin, if there are several columns. */
const MIN_PLOT = 150;
/** Left and right margin of a plot, the gap between panels, and the margins above and below. */
const [LEFT, RIGHT, GAP, TOP, BOTTOM] = [34, 4, 12, 28, 26];

/** Arranges panels in as many columns as fit a width. @param points per line, as `Frame.points`. */
export function frameIn(width: number, panels: number, points: number): Frame {
  const columns = Math.max(1, Math.min(panels, Math.floor((width + GAP) / (MIN_PLOT + LEFT + GAP))));
  const plotWidth = Math.floor((width - GAP * (columns - 1)) / columns) - LEFT - RIGHT;
  const plotHeight = columns === 1 ? 110 : 150;
  const rows = Math.ceil(panels / columns);
  const places = Array.from({ length: panels }, (_, k) => ({
    left: LEFT + (k % columns) * (plotWidth + LEFT + GAP),
    top: TOP + Math.floor(k / columns) * (plotHeight + TOP + BOTTOM),
  }));
  const days = Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => ({
    day: day + 1,
    x: ((day + 0.5) * NUM_SLOTS * plotWidth) / NUM_STEPS,
  }));
  return {
    width,
    height: rows * (plotHeight + TOP + BOTTOM),
    plotWidth,
    plotHeight,
    places,
    days,
    points,
  };
}

type Domain = readonly [low: number, high: number];

/** Returns the place of the point with index `step`, in pixels from the upper left corner of its plot. */
export function pointAt(
  { plotWidth, plotHeight, points }: Frame,
  [low, high]: Domain,
  step: number,
  value: number,
) {
  // With 29 points the first one is the start of the week; with 28 it is the end of the first slot.
  const slots = points > NUM_STEPS ? step : step + 1;
  const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return { x: (slots / NUM_STEPS) * plotWidth, y: (1 - share) * plotHeight };
}

/** Returns the step of the point that is nearest to a place of the picture. */
export function stepAt({ places, plotWidth, plotHeight, points }: Frame, x: number, y: number): number {
  const distance = ({ left, top }: Frame['places'][number]): number =>
    Math.hypot(outside(x - left, plotWidth), outside(y - top, plotHeight));
  const nearest = [...places].sort((a, b) => distance(a) - distance(b))[0];
  const slots = Math.round(((x - nearest.left) / plotWidth) * NUM_STEPS);
  return Math.min(points - 1, Math.max(0, points > NUM_STEPS ? slots : slots - 1));
}

/** Returns how far an offset lies outside of the range from 0 to `size`; 0 within the range. */
const outside = (offset: number, size: number): number => Math.max(0, -offset, offset - size);

const round = (value: number): number => Math.round(10 * value) / 10;

function pointTexts(frame: Frame, domain: Domain, values: readonly number[]): string[] {
  return values.map((value, step) => {
    const { x, y } = pointAt(frame, domain, step, value);
    return `${round(x)} ${round(y)}`;
  });
}

/** Returns a line through the values, as an SVG path. Missing values interrupt it. */
export function lineOf(frame: Frame, domain: Domain, values: readonly number[]): string {
  const texts = pointTexts(frame, domain, values);
  return values
    .map((value, step) => {
      if (!Number.isFinite(value)) return '';
      return `${step > 0 && Number.isFinite(values[step - 1]) ? 'L' : 'M'}${texts[step]}`;
    })
    .join('');
}

/** Returns a bar from 0 to each value, as an SVG path. Missing values have none. */
export function stemsOf(frame: Frame, domain: Domain, values: readonly number[]): string {
  const zero = round(pointAt(frame, domain, 0, 0).y);
  return values
    .map((value, step) => {
      if (!Number.isFinite(value)) return '';
      const { x, y } = pointAt(frame, domain, step, value);
      return `M${round(x)} ${zero}V${round(y)}`;
    })
    .join('');
}

/** Returns the area between two lines, as an SVG path. */
export function areaOf(
  frame: Frame,
  domain: Domain,
  [low, high]: readonly [readonly number[], readonly number[]],
) {
  const [lower, upper] = [pointTexts(frame, domain, low), pointTexts(frame, domain, high)];
  return `M${upper.join('L')}L${lower.reverse().join('L')}Z`;
}
