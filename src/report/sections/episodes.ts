/** Section: timelines of each player's best, median and worst episode, or only the median for many players. */
import { decimals } from '../../evaluation/format-results.js';
import { drawTimeline } from '../../figures/timeline.js';
import { type ChosenEpisode, MEDIAN_SAMPLE } from '../episode-choice.js';
import { timelineOf } from '../episode-timeline.js';
import { type Html, html, paragraph } from '../html.js';
import { disambiguated } from '../player-names.js';
import type { ReportData, ReportedPlayer } from '../result-gatherer.js';
import type { Figure, Section } from '../section.js';

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
