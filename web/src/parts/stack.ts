/** Places the parts of a sum on an axis: the positive ones beside each other from 0 on, the negative ones to the left of 0. */

/** The place of a part of a sum: from `start` to `end`, which is not smaller. */
export interface Section {
  readonly start: number;
  readonly end: number;
}

/** Returns the section of each part. */
export function stackOf(parts: readonly number[]): Section[] {
  let [left, right] = [0, 0];
  return parts.map((part) => {
    if (part < 0) {
      left += part;
      return { start: left, end: left - part };
    }
    right += part;
    return { start: right - part, end: right };
  });
}

/** Returns the start of an axis that shows all negative parts: their sum, or 0 if there are none. */
export const leftOf = (parts: readonly number[]): number =>
  parts.reduce((sum, part) => sum + Math.min(0, part), 0);

/** An axis that fills the width of an element, from `low` to `high`. */
export interface Axis {
  readonly low: number;
  readonly high: number;
}

/** Returns the place of a section on an axis, as CSS. */
export const placeOf = ({ start, end }: Section, { low, high }: Axis) => ({
  left: percent((start - low) / (high - low)),
  width: percent((end - start) / (high - low)),
});

const percent = (share: number): string => `${100 * share}%`;
