/** The pictures of an audit. */
import { drawBands } from '../pictures/bands.js';
import type { NamedDrawing } from '../pictures/drawing.js';
import { drawRewards } from '../pictures/rewards.js';
import { drawTapes } from '../pictures/tapes.js';
import type { Audit } from './audit.js';
import { drawAuditComponents, drawAuditPrices, seedsNote } from './price-drawings.js';
import type { Week } from './weeks.js';

/** Of what was found and what it earned, in the order of a report. */
export function drawingsOf(audit: Audit): NamedDrawing[] {
  const { grader, graderWeights: weights, seeds } = audit;
  const rows = audit.rows.map((row) => ({ ...row, name: row.policy }));
  const priced = { grader, weights, seeds, rows };
  const shown = audit.weeks.filter(({ policy }) => !policy.startsWith('push:'));
  const notes = [seedsNote(audit)];
  return [
    { name: 'prices', drawing: drawAuditPrices(priced) },
    { name: 'components', drawing: drawAuditComponents(priced) },
    {
      name: 'tapes',
      drawing: drawTapes({
        title: `What earns most under grader ${grader}`,
        rows: audit.weeks.map((week) => ({ name: labelOf(week), actions: week.actions })),
      }),
    },
    {
      name: 'rewards',
      drawing: drawRewards({
        notes,
        rows: shown.map(({ policy, rewards }) => ({ name: policy, rewards })),
      }),
    },
    {
      name: 'meters',
      drawing: drawBands({
        notes,
        rows: shown.map(({ policy, bands }) => ({ name: policy, bands })),
      }),
    },
  ];
}

const labelOf = ({ policy, one }: Week): string => (one ? policy : `${policy}, commonest`);
