/** Draws the figures of an audit. */

import { drawActionSequences } from '../../figures/action-sequences.js';
import type { NamedDrawing } from '../../figures/drawing-types.js';
import { drawBands } from '../../figures/meter-bands.js';
import { drawRewards } from '../../figures/rewards.js';
import type { Audit } from './audit.js';
import { drawAuditComponents, drawAuditGains, seedsNote } from './gain-figures.js';
import type { MeanEpisode } from './mean-episodes.js';

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
