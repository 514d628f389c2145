/** Sections: use of the ten actions, timelines of the best, median and worst episodes, and the cost of language models. */
import { decimals, grouped } from '../../evaluation/format-results.js';
import { drawActions } from '../../figures/action-shares.js';
import { dollarsText, drawCosts } from '../../figures/costs.js';
import { decimal } from '../../figures/theme.js';
import { drawTimeline } from '../../figures/timeline.js';
import { FALLBACK_ACTION } from '../../rollouts/trajectories/move.js';
import { ACTION_NAMES } from '../../world/fields.js';
import { disambiguated } from '../player-names.js';
import { type ChosenEpisode, MEDIAN_SAMPLE, timelineOf } from '../player-tally.js';
import type { ReportData, ReportedPlayer } from '../result-gatherer.js';
import type { ReportedCost } from '../result-rows.js';
import {
  type Column,
  collapsible,
  type Figure,
  type Html,
  html,
  type Part,
  paginateFigures,
  paragraph,
  type Section,
  table,
} from '../section.js';
import type { CountedUse } from '../tallies.js';

/** The largest number of players in a figure that fits a printed page. */
const MAX_PLAYERS = 4;

/** Returns the section; null if no file has episodes. */
export function actionsSection(data: ReportData): Section | null {
  const players = disambiguated(data.players);
  if (players.length === 0) return null;
  const panels = players.map(({ name, actions }) => ({ name, rows: actions }));
  const rows = players.flatMap(({ name, actions }) => actions.map((use) => ({ player: name, ...use })));
  return {
    id: 'actions',
    title: 'Use of the ten actions',
    parts: [
      paragraph(
        'Rows are named profiles, all sampled profiles together, and thirds of the sampled profiles by belief target ' +
          '(social, morning, work). In brackets: the number of episodes. If the rows of a player are alike, the player does not adapt ' +
          'to the profile.',
      ),
      ...paginateFigures('actions', panels, MAX_PLAYERS, (subset) => drawActions({ players: subset })),
      collapsible('The same as a table', table('Share of steps by action, in percent', ACTION_COLUMNS, rows)),
    ],
  };
}

type Row = CountedUse & { readonly player: string };

const ACTION_COLUMNS: readonly Column<Row>[] = [
  { head: 'player', cell: ({ player }) => player },
  { head: 'profiles', cell: ({ group }) => group, numeric: false },
  { head: 'episodes', cell: ({ episodes }) => grouped(episodes) },
  ...ACTION_NAMES.map((action, code) => ({
    head: action,
    cell: ({ shares }: Row) => decimal(100 * shares[code], 1),
  })),
];

/** The most players with up to three timelines each, chosen by hand. If there are more players, each gets one timeline. */
const MAX_DETAILED = 4;

/** Returns the section; null if no file has episodes. */
export function episodesSection(data: ReportData): Section | null {
  const players = disambiguated(data.players);
  if (players.length === 0) return null;
  const isDetailed = players.length <= MAX_DETAILED;
  let number = 0;
  return {
    id: 'episodes',
    title: 'Timelines of episodes',
    folded: true,
    parts: [
      paragraph(isDetailed ? ALL_THREE : MEDIAN_ONLY),
      ...players.flatMap((player) => [
        heading(player),
        ...(isDetailed ? player.chosenEpisodes : medianOf(player.chosenEpisodes)).map((episode) =>
          figureOf(player, episode, ++number),
        ),
      ]),
    ],
  };
}

const SAMPLE = `The median is that of a player's first ${MEDIAN_SAMPLE} episodes.`;
const ALL_THREE = `Each player's episodes with the best, the median and the worst final score. ${SAMPLE}`;
const MEDIAN_ONLY =
  `Each player's episode with the median final score. ${SAMPLE} ` +
  'A report on fewer players also has the best and the worst.';

/** Returns a list of the median episode alone. It may be the best or the worst too, or the only one. */
const medianOf = (episodes: readonly ChosenEpisode[]): ChosenEpisode[] =>
  episodes.filter(({ which }) => which === 'only' || which.includes('median'));

const heading = ({ name }: ReportedPlayer): Html => html`<h3><bdi>${name}</bdi></h3>\n`;

function figureOf({ name }: ReportedPlayer, chosen: ChosenEpisode, number: number): Figure {
  const { which, condition, mode, seed, grader, finalScore } = chosen;
  const notes = [`Condition ${condition}, ${mode}.`];
  const title = `${name}, ${which} episode, seed ${seed}: ${decimals(finalScore)} under grader ${grader}`;
  const drawing = drawTimeline({ title, notes, episode: timelineOf(chosen) });
  return { name: `episode-${number}`, drawing };
}

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
      table('Cost of an episode', COST_COLUMNS, players),
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

const COST_COLUMNS: readonly Column<ReportedCost>[] = [
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
