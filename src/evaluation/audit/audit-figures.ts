/** Draws the figures of an audit. */
import { drawActionSequences } from '../../figures/action-sequences.js';
import { drawComponents } from '../../figures/components.js';
import type { Drawing, NamedDrawing } from '../../figures/figure.js';
import { drawGains } from '../../figures/gains.js';
import { drawBands } from '../../figures/meter-bands.js';
import { drawRewards } from '../../figures/rewards.js';
import type { Interval } from '../../shared/statistics.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import type { Audit } from './audit.js';
import type { MeanEpisode } from './audit-envs.js';

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

/** Returns the figures of an audit, in the order of its report. */
export function drawingsOf(audit: Audit): NamedDrawing[] {
  const { grader, graderWeights: weights, seeds } = audit;
  const rows = audit.rows.map((row) => ({ ...row, name: row.policy }));
  const auditedGrader = { grader, weights, seeds, rows };
  // The last two figures leave out the sequences that raise one component alone, which would crowd them.
  const drawnEpisodes = audit.meanEpisodes.filter(({ policy }) => !policy.startsWith('push:'));
  const notes = [seedsNote(audit)];
  return [
    { name: 'gains', drawing: drawAuditGains(auditedGrader) },
    { name: 'components', drawing: drawAuditComponents(auditedGrader) },
    {
      name: 'action-sequences',
      drawing: drawActionSequences({
        title: `Best action sequences under grader ${grader}`,
        rows: audit.meanEpisodes.map((episode) => ({ name: labelOf(episode), actions: episode.actions })),
      }),
    },
    {
      name: 'rewards',
      drawing: drawRewards({
        notes,
        rows: drawnEpisodes.map(({ policy, rewards }) => ({ name: policy, rewards })),
      }),
    },
    {
      name: 'meters',
      drawing: drawBands({
        notes,
        rows: drawnEpisodes.map(({ policy, bands }) => ({ name: policy, bands })),
      }),
    },
  ];
}

/** Returns a row's label. If episodes differ, the row shows the most common action of each step. */
const labelOf = ({ policy, isSingleSequence }: MeanEpisode): string =>
  isSingleSequence ? policy : `${policy}, most common`;
