/** Draws the gains and components of an audit, new or stored. */

import { drawComponents } from '../../figures/components.js';
import type { Drawing } from '../../figures/drawing-types.js';
import { drawGains } from '../../figures/gains.js';
import type { Interval } from '../../shared/statistics.js';
import { COMPONENT_NAMES } from '../../world/fields.js';

/** The data of the figures. */
export interface AuditedGrader {
  readonly grader: string;
  readonly weights: Readonly<Record<string, number>>;
  readonly seeds: { readonly fresh: string; readonly profiles: string; readonly planner?: string };
  readonly rows: readonly GainRow[];
}

/** The gain and the components of one player (players.ts). */
export interface GainRow {
  /** Unique among the rows. */
  readonly name: string;
  readonly role: string;
  readonly gain: Interval;
  readonly components: Readonly<Record<string, { readonly mean: number }>>;
}

/** Gains are differences from this policy. */
const BASELINE = 'heuristic';

/** Draws the gain of each player over the heuristic. */
export const drawAuditGains = (audit: AuditedGrader): Drawing =>
  drawGains({
    title: `What grader ${audit.grader} pays for`,
    notes: [seedsNote(audit)],
    baseline: BASELINE,
    rows: audit.rows.filter(({ name }) => name !== BASELINE).map(({ name, gain }) => ({ name, gain })),
  });

/** Draws the components of all players' scores, except players of the roles `null` and `push` (see `Role` in players.ts). */
export const drawAuditComponents = (audit: AuditedGrader): Drawing =>
  drawComponents({
    title: `Final scores under grader ${audit.grader}, by component`,
    notes: [seedsNote(audit)],
    rows: audit.rows
      .filter(({ role }) => role !== 'push' && role !== 'null')
      .map(({ name, components }) => ({
        name,
        parts: COMPONENT_NAMES.map((component) => audit.weights[component] * components[component].mean),
      })),
  });

/** Returns the seeds of the scores, as text. */
export const seedsNote = ({ seeds }: Pick<AuditedGrader, 'seeds'>): string =>
  `Fresh seeds ${seeds.fresh}; oracle-open-loop ${seeds.profiles}` +
  (seeds.planner === undefined ? '.' : `; planners ${seeds.planner}.`);
