/** Mean scores as bars, with a section for each component. */
import { COMPONENT_COLOURS, decimal } from '../../../src/figures/theme.js';
import { COMPONENT_NAMES } from '../../../src/world/fields.js';
import type { TableProps } from '../parts/content.js';
import { COMPONENT_WORDS, policyName } from '../words.js';
import { ChartFigure, Legend } from './figure.js';
import { leftOf, placeOf, stackOf } from './layout.js';

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
  const high = Math.max(...rows.map(({ parts }) => parts.reduce((sum, part) => sum + Math.max(0, part), 0)));
  const shown = COMPONENT_NAMES.map((_, k) => k).filter((k) => rows.some(({ parts }) => parts[k] !== 0));
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
              <span>{policyName(name)}</span>
              <strong>
                {decimal(
                  parts.reduce((sum, part) => sum + part, 0),
                  3,
                )}
              </strong>
            </p>
            <div class="stack">
              {stackOf(parts).map((section, k) => (
                <span
                  key={COMPONENT_NAMES[k]}
                  class="segment"
                  title={`${COMPONENT_WORDS[COMPONENT_NAMES[k]].name} ${decimal(parts[k], 3)}`}
                  style={{ ...placeOf(section, { low, high }), background: COMPONENT_COLOURS[k] }}
                >
                  {Math.abs(parts[k]) / (high - low) > MIN_NUMBERED && decimal(parts[k], 3)}
                </span>
              ))}
            </div>
          </div>
        ))}
      </div>
      <Legend
        names={shown.map((k) => COMPONENT_WORDS[COMPONENT_NAMES[k]].name)}
        colours={shown.map((k) => COMPONENT_COLOURS[k])}
      />
    </ChartFigure>
  );
}
