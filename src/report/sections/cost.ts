/** Section: requests, tokens and dollars of language models, and their answers without a valid action. */
import { grouped } from '../../evaluation/format-results.js';
import { dollarsText, drawCosts } from '../../figures/costs.js';
import { decimal } from '../../figures/text.js';
import { FALLBACK_ACTION } from '../../rollouts/trajectories/trajectory-episode.js';
import { disambiguated } from '../player-names.js';
import type { ReportData } from '../result-gatherer.js';
import type { ReportedCost } from '../result-rows.js';
import { type Column, type Part, paragraph, type Section, table } from '../section.js';

/** Returns the section; null if no file has usage or unparsed steps. */
export function costSection({ costs }: ReportData): Section | null {
  const players = disambiguated(costs).filter(
    ({ spending }) => spending.metered > 0 || spending.unparsed > 0,
  );
  if (players.length === 0) return null;
  return {
    id: 'cost',
    title: 'Cost',
    parts: [
      paragraph(
        'Means over the episodes with recorded usage. More than one request per step means retries. Unparsed steps: the share ' +
          `of steps without a valid action in the answer; ${FALLBACK_ACTION} is played for them.`,
      ),
      ...pictureOf(players),
      table('Cost of an episode', COLUMNS, players),
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
  { head: 'dollars in total', cell: ({ spending }) => dollarsText(spending.total.cost_usd) },
  {
    head: 'unparsed steps',
    cell: ({ spending: { unparsed, steps } }) => `${decimal((100 * unparsed) / steps, 1)} %`,
  },
];
