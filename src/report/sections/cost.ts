/** What language models took: requests, tokens, dollars, and answers in which no action was read. */
import { grouped } from '../../evaluate/figures.js';
import { dollarsText, drawCosts } from '../../pictures/costs.js';
import { decimal } from '../../pictures/numbers.js';
import { FALLBACK_ACTION } from '../../trajectory/episode.js';
import type { ReportedCost } from '../costs.js';
import type { ReportData } from '../gathered.js';
import { type Column, paragraph, table } from '../html.js';
import { toldApart } from '../names.js';
import type { Part, Section } from '../section.js';

/** Null where no file says what anything took, and every action was read. */
export function costSection({ costs }: ReportData): Section | null {
  const players = toldApart(costs).filter(({ spending }) => spending.metered > 0 || spending.unparsed > 0);
  if (players.length === 0) return null;
  return {
    id: 'cost',
    title: 'Cost',
    parts: [
      paragraph(
        'Means over the episodes that say what they took; a week is 28 steps, so that requests beyond one a step are ' +
          `retries. Unparsed: of all steps, those in which no action was read and ${FALLBACK_ACTION} was played.`,
      ),
      ...pictureOf(players),
      table('What an episode took', COLUMNS, players),
    ],
  };
}

function pictureOf(players: readonly ReportedCost[]): Part[] {
  const rows = players
    .filter(({ spending: { perEpisode } }) => perEpisode.prompt_tokens ?? perEpisode.completion_tokens)
    .map(({ name, spending: { perEpisode } }) => ({
      name,
      promptTokens: perEpisode.prompt_tokens,
      completionTokens: perEpisode.completion_tokens,
      cost: perEpisode.cost_usd,
    }));
  return rows.length === 0 ? [] : [{ name: 'cost', drawing: drawCosts({ rows }) }];
}

const whole = (value: number | null): string => (value === null ? '–' : grouped(Math.round(value)));

const COLUMNS: readonly Column<ReportedCost>[] = [
  { head: 'player', cell: ({ name }) => name },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  {
    head: 'requests per step',
    cell: ({ spending: { perEpisode, steps }, episodes }) =>
      perEpisode.requests === null ? '–' : decimal(perEpisode.requests / (steps / episodes), 2),
  },
  { head: 'prompt tokens per episode', cell: ({ spending }) => whole(spending.perEpisode.prompt_tokens) },
  {
    head: 'completion tokens per episode',
    cell: ({ spending }) => whole(spending.perEpisode.completion_tokens),
  },
  { head: 'dollars per episode', cell: ({ spending }) => dollarsText(spending.perEpisode.cost_usd) },
  { head: 'dollars in all', cell: ({ spending }) => dollarsText(spending.total.cost_usd) },
  {
    head: 'unparsed steps',
    cell: ({ spending: { unparsed, steps } }) => `${decimal((100 * unparsed) / steps, 1)} %`,
  },
];
