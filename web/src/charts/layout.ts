/** The axis of panels, the places of panels and of their points, and lines through these points as SVG paths. */
import { NUM_SLOTS, NUM_STEPS } from '../../../src/world/fields.js';

/** The horizontal axis. */
interface Axis {
  /** The place of each point, from 0 to `end`. */
  readonly at: readonly number[];
  readonly end: number;
  readonly labels: readonly { readonly at: number; readonly text: string }[];
  /** Whether the second half of the axis is shaded. */
  readonly hasHalves: boolean;
}

/** Returns the axis of a week, with days. @param points NUM_STEPS, one after each slot, or one more with the start first. */
export const weekAxis = (points: number): Axis => ({
  at: Array.from({ length: points }, (_, k) => (points > NUM_STEPS ? k : k + 1)),
  end: NUM_STEPS,
  labels: Array.from({ length: NUM_STEPS / NUM_SLOTS }, (_, day) => ({
    at: (day + 0.5) * NUM_SLOTS,
    text: String(day + 1),
  })),
  hasHalves: true,
});

/** Returns an axis of seconds, ascending, which ends at the last one, or at 10 (chosen by hand) if that is later. */
export function secondsAxis(seconds: readonly number[]): Axis {
  const end = Math.max(10, seconds[seconds.length - 1]);
  const labels = [0, end / 2, end].map((at) => ({ at, text: `${at.toFixed(0)} s` }));
  return { at: seconds, end, labels, hasHalves: false };
}

/** Where the panels of a chart are. Lengths are pixels. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly plotWidth: number;
  readonly plotHeight: number;
  /** The upper left corner of the plot of each panel. */
  readonly places: readonly { readonly left: number; readonly top: number }[];
  readonly axis: Axis;
}

// The lengths are in pixels, and chosen by hand.

/** The smallest width of a plot with its right margin, if there are several columns. */
const MIN_PLOT = 150;
/** Left and right margin of a plot, the gap between panels, and the margins above and below. */
const [LEFT, RIGHT, GAP, TOP, BOTTOM] = [34, 4, 12, 28, 26];

/** Arranges panels in as many columns as fit a width. */
export function frameIn(width: number, panels: number, axis: Axis): Frame {
  const columns = Math.max(1, Math.min(panels, Math.floor((width + GAP) / (MIN_PLOT + LEFT + GAP))));
  const plotWidth = Math.floor((width - GAP * (columns - 1)) / columns) - LEFT - RIGHT;
  const plotHeight = columns === 1 ? 110 : 150;
  const places = Array.from({ length: panels }, (_, k) => ({
    left: LEFT + (k % columns) * (plotWidth + LEFT + GAP),
    top: TOP + Math.floor(k / columns) * (plotHeight + TOP + BOTTOM),
  }));
  const height = Math.ceil(panels / columns) * (plotHeight + TOP + BOTTOM);
  return { width, height, plotWidth, plotHeight, places, axis };
}

/** Returns how far from the left of its plot a place of the axis is. */
export const xOf = ({ plotWidth, axis }: Frame, at: number): number => round((at / axis.end) * plotWidth);

type Domain = readonly [low: number, high: number];

/** Returns how far from the top of its plot a value is. Values outside of the domain are at its ends. */
export const yOf = ({ plotHeight }: Frame, [low, high]: Domain, value: number): number =>
  round((1 - Math.min(1, Math.max(0, (value - low) / (high - low)))) * plotHeight);

const round = (value: number): number => Math.round(10 * value) / 10;

/** Returns the index of the point that is nearest to a place of the picture. */
export function indexAt(frame: Frame, x: number, y: number): number {
  const { places, plotWidth, plotHeight, axis } = frame;
  const outside = (offset: number, size: number): number => Math.max(0, -offset, offset - size);
  const distances = places.map(({ left, top }) =>
    Math.hypot(outside(x - left, plotWidth), outside(y - top, plotHeight)),
  );
  const { left } = places[leastOf(distances)];
  return leastOf(axis.at.map((at) => Math.abs(xOf(frame, at) - (x - left))));
}

const leastOf = (values: readonly number[]): number => values.indexOf(Math.min(...values));

/** Returns the place of point k with a value, as in SVG paths. */
const pointOf = (frame: Frame, domain: Domain, value: number, k: number): string =>
  `${xOf(frame, frame.axis.at[k])} ${yOf(frame, domain, value)}`;

/** Returns a line through the values, as an SVG path. Missing values interrupt it. */
export function lineOf(frame: Frame, domain: Domain, values: readonly number[]): string {
  const isAt = (k: number): boolean => k >= 0 && Number.isFinite(values[k]);
  return values
    .map((value, k) => isAt(k) && `${isAt(k - 1) ? 'L' : 'M'}${pointOf(frame, domain, value, k)}`)
    .filter(Boolean)
    .join('');
}

/** Returns the area between two lines, as an SVG path. */
export function areaOf(frame: Frame, domain: Domain, band: readonly (readonly number[])[]): string {
  const [lower, upper] = band.map((line) => line.map((value, k) => pointOf(frame, domain, value, k)));
  return `M${upper.join('L')}L${lower.reverse().join('L')}Z`;
}
