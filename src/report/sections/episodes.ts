/** Sections: how players use the ten actions, by group of profiles; timelines of each player's best, median and worst episode. */
import { decimals, grouped } from '../../evaluation/format-results.js';
import { drawActions } from '../../figures/action-shares.js';
import { decimal } from '../../figures/text.js';
import { drawTimeline } from '../../figures/timeline.js';
import { ACTION_NAMES } from '../../world/fields.js';
import { type ChosenEpisode, MEDIAN_SAMPLE, timelineOf } from '../episode-choice.js';
import { disambiguated } from '../player-names.js';
import type { ReportData, ReportedPlayer } from '../result-gatherer.js';
import {
  type Column,
  collapsible,
  type Figure,
  type Html,
  html,
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
      collapsible('The same as a table', table('Share of steps by action, in percent', COLUMNS, rows)),
    ],
  };
}

type Row = CountedUse & { readonly player: string };

const COLUMNS: readonly Column<Row>[] = [
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
