/** What a measurement reports: tables, and ratios (figures that summarise it) with their targets. */
import CliTable from 'cli-table3';

/** A target of the project. */
export interface Target {
  readonly bound: 'at most' | 'at least';
  readonly value: number;
}

export interface Ratio {
  readonly name: string;
  readonly value: number;
  /** Absent for ratios without a target. */
  readonly target?: Target;
}

export interface Ratios {
  readonly ratios: readonly Ratio[];
  /** Ratios that could not be computed, and why. */
  readonly leftOut?: readonly { readonly name: string; readonly why: string }[];
}

/** The result of an optional measurement. */
export interface Report {
  /** The figures for the JSON file. */
  readonly figures: object;
  readonly text: string;
}

/** An optional measurement, which an option of the bench adds. */
export interface Section {
  /** The description of the option. */
  readonly help: string;
  /** Verifies and measures. @param small whether everything runs once with small sizes, to verify without measuring speed. */
  measure(small: boolean, options: { readonly backend: string }): Promise<Report>;
}

export const atMost = (value: number): Target => ({ bound: 'at most', value });
export const atLeast = (value: number): Target => ({ bound: 'at least', value });

/** Renders a table without lines between rows. The first `left` columns are aligned left, the others right. */
export function table(
  head: readonly string[],
  lines: readonly (readonly (string | number)[])[],
  left = 1,
): string {
  const rendered = new CliTable({
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
    head: [...head],
    colAligns: head.map((_, k) => (k < left ? 'left' : 'right')),
    style: { head: [], border: [] },
  });
  rendered.push(...lines.map((line) => [...line]));
  return rendered.toString();
}

/**
 * Formats a number with `places` decimals.
 * @param absent the text for null; by default 'void', for a time that was too short for the timer.
 */
export const digits = (value: number | null, places: number, absent = 'void'): string =>
  value === null ? absent : value.toFixed(places);

/** Formats a share as a percentage. */
export const percent = (share: number | null, absent = '-'): string =>
  share === null ? absent : `${(100 * share).toFixed(0)} %`;

/** Returns whether a ratio meets its target; null if it has none. */
export const isMet = ({ value, target }: Ratio): boolean | null =>
  target === undefined ? null : target.bound === 'at most' ? value <= target.value : value >= target.value;

function targetText(ratio: Ratio): string {
  if (ratio.target === undefined) return '';
  const { bound, value } = ratio.target;
  return `${bound} ${value}: ${isMet(ratio) ? 'met' : 'MISSED'}`;
}

export function renderRatios({ ratios, leftOut = [] }: Ratios): string {
  const lines = ratios.map((ratio) => [ratio.name, ratio.value.toFixed(2), targetText(ratio)]);
  const missing = leftOut.map(({ name, why }) => `${name} is left out. ${why}`);
  const tables = lines.length === 0 ? [] : [table(['ratio', 'value', 'target'], lines)];
  return [...tables, ...missing].join('\n');
}

/** Returns the values and the targets of ratios by name, and the reasons for ratios that could not be computed. */
export function ratiosToJson({ ratios, leftOut = [] }: Ratios) {
  const targets = ratios
    .filter(({ target }) => target !== undefined)
    .map((ratio) => [ratio.name, { ...ratio.target, met: isMet(ratio) }]);
  return {
    ratios: Object.fromEntries(ratios.map(({ name, value }) => [name, value])),
    targets: Object.fromEntries(targets),
    leftOut: Object.fromEntries(leftOut.map(({ name, why }) => [name, why])),
  };
}

/** Returns a report with ratios. A small measurement does not show them, because its times say nothing. */
export function reportOf(figures: object, texts: string[], ratios: Ratio[], small: boolean): Report {
  const shown = small || ratios.length === 0 ? [] : [renderRatios({ ratios })];
  return { figures: { ...figures, ...ratiosToJson({ ratios }) }, text: [...texts, ...shown].join('\n') };
}
