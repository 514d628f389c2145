/** The pictures of an audit. */
import { drawBands } from '../pictures/bands.js';
import { drawComponents } from '../pictures/components.js';
import type { NamedDrawing } from '../pictures/drawing.js';
import { drawPrices } from '../pictures/prices.js';
import { drawRewards } from '../pictures/rewards.js';
import { drawTapes } from '../pictures/tapes.js';
import { COMPONENT_NAMES } from '../world/fields.js';
import type { Audit } from './audit.js';
import { HEURISTIC } from './players.js';
import type { Week } from './weeks.js';

/** Of what was found and what it earned, in the order of a report. */
export function drawingsOf(audit: Audit): NamedDrawing[] {
  const { grader } = audit;
  const weeks = audit.weeks.filter(({ policy }) => !policy.startsWith('push:'));
  const fresh = `Fresh seeds ${audit.seeds.fresh}; of persons with a tape of their own ${audit.seeds.persons}.`;
  return [
    {
      name: 'prices',
      drawing: drawPrices({
        title: `What grader ${grader} pays for`,
        notes: [fresh],
        baseline: HEURISTIC.name,
        rows: audit.rows
          .filter(({ policy }) => policy !== HEURISTIC.name)
          .map(({ policy, price }) => ({ name: policy, gain: price })),
      }),
    },
    { name: 'components', drawing: drawComponents(componentsOf(audit, fresh)) },
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
        notes: [fresh],
        rows: weeks.map(({ policy, rewards }) => ({ name: policy, rewards })),
      }),
    },
    {
      name: 'meters',
      drawing: drawBands({
        notes: [fresh],
        rows: weeks.map(({ policy, bands }) => ({ name: policy, bands })),
      }),
    },
  ];
}

const componentsOf = ({ rows, grader, graderWeights }: Audit, fresh: string) => ({
  title: `What grader ${grader} adds up`,
  notes: [fresh],
  rows: rows
    .filter(({ role }) => role !== 'push')
    .map(({ policy, components }) => ({
      name: policy,
      parts: COMPONENT_NAMES.map((name) => graderWeights[name] * components[name].mean),
    })),
});

const labelOf = ({ policy, one }: Week): string => (one ? policy : `${policy}, commonest`);
