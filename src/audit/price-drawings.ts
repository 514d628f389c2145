/** The pictures of what a grader pays for, of an audit that was just made or of a stored one. */
import type { Interval } from '../evaluate/statistics.js';
import { drawComponents } from '../pictures/components.js';
import type { Drawing } from '../pictures/drawing.js';
import { drawPrices } from '../pictures/prices.js';
import { COMPONENT_NAMES } from '../world/fields.js';

/** What they need of an audit. */
export interface PricedAudit {
  readonly grader: string;
  readonly weights: Readonly<Record<string, number>>;
  readonly seeds: { readonly fresh: string; readonly persons: string };
  readonly rows: readonly PricedRow[];
}

export interface PricedRow {
  /** Unlike all others. */
  readonly name: string;
  readonly role: string;
  readonly price: Interval;
  readonly components: Readonly<Record<string, { readonly mean: number }>>;
}

/** Prices are differences to it. */
const BASELINE = 'heuristic';

export const drawAuditPrices = (audit: PricedAudit): Drawing =>
  drawPrices({
    title: `What grader ${audit.grader} pays for`,
    notes: [seedsNote(audit)],
    baseline: BASELINE,
    rows: audit.rows
      .filter(({ name }) => name !== BASELINE)
      .map(({ name, price }) => ({ name, gain: price })),
  });

export const drawAuditComponents = (audit: PricedAudit): Drawing =>
  drawComponents({
    title: `What grader ${audit.grader} adds up`,
    notes: [seedsNote(audit)],
    rows: audit.rows
      .filter(({ role }) => role !== 'push')
      .map(({ name, components }) => ({
        name,
        parts: COMPONENT_NAMES.map((component) => audit.weights[component] * components[component].mean),
      })),
  });

/** Which weeks everything was scored on. */
export const seedsNote = ({ seeds }: Pick<PricedAudit, 'seeds'>): string =>
  `Fresh seeds ${seeds.fresh}; of persons with a tape of their own ${seeds.persons}.`;
