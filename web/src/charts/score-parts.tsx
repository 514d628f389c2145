/** Mean scores as bars, with a section for each component, and the places of such sections. */
import { COMPONENT_COLOURS, decimal } from '../../../src/figures/theme.js';
import { COMPONENT_NAMES } from '../../../src/world/fields.js';
import type { TableProps } from '../parts/content.js';
import { COMPONENT_WORDS } from '../words.js';
import { ChartFigure, Legend } from './figure.js';

interface Row {
  readonly name: string;
  /** By COMPONENT_NAMES: weight times mean component. */
  readonly parts: readonly number[];
}

interface ScorePartsProps {
  readonly title: string;
  readonly description: string;
  readonly rows: readonly Row[];
  readonly table: TableProps;
}

/** Sections above this share of the axis have room for their numbers. Chosen by hand. */
const MIN_NUMBERED = 0.11;

export function ScoreParts({ title, description, rows, table }: ScorePartsProps) {
  const low = Math.min(...rows.map(({ parts }) => leftOf(parts)));
  const high = Math.max(...rows.map(({ parts }) => sumOf(parts) - leftOf(parts)));
  const sections = COMPONENT_NAMES.map((name, k) => ({
    name: COMPONENT_WORDS[name].name,
    colour: COMPONENT_COLOURS[k],
  }));
  return (
    <ChartFigure
      title={title}
      notes={['Each section is weight times component. The sum of the sections is the mean score.']}
      table={table}
    >
      <div class="score-parts" role="img" aria-label={description}>
        {rows.map(({ name, parts }) => (
          <div key={name}>
            <p>
              <span>{name}</span>
              <strong>{decimal(sumOf(parts), 3)}</strong>
            </p>
            <div class="stack">
              {stackOf(parts).map((section, k) => (
                <span
                  key={k}
                  class="segment"
                  title={`${sections[k].name} ${decimal(parts[k], 3)}`}
                  style={{ ...placeOf(section, { low, high }), background: sections[k].colour }}
                >
                  {Math.abs(parts[k]) / (high - low) > MIN_NUMBERED && decimal(parts[k], 3)}
                </span>
              ))}
            </div>
          </div>
        ))}
      </div>
      <Legend rows={sections.filter((_, k) => rows.some(({ parts }) => parts[k] !== 0))} />
    </ChartFigure>
  );
}

const sumOf = (parts: readonly number[]): number => parts.reduce((sum, part) => sum + part, 0);

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
export interface BarAxis {
  readonly low: number;
  readonly high: number;
}

/** Returns the place of a section on an axis, as CSS. */
export const placeOf = ({ start, end }: Section, { low, high }: BarAxis) => ({
  left: percent((start - low) / (high - low)),
  width: percent((end - start) / (high - low)),
});

const percent = (share: number): string => `${100 * share}%`;
