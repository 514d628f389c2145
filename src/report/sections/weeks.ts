/** Some weeks as timelines: of each player the best, the median and the worst, or the median where players are many. */
import { decimals } from '../../evaluate/figures.js';
import { drawTimeline } from '../../pictures/timeline.js';
import type { ReportData, ReportedPlayer } from '../gathered.js';
import { type Html, html, paragraph } from '../html.js';
import type { ChosenWeek } from '../kept-weeks.js';
import { toldApart } from '../names.js';
import type { Figure, Section } from '../section.js';
import { timelineOf } from '../timeline-of.js';

/** More players than this are shown by one week each. */
const FEW = 4;

/** Null where no file has episodes. */
export function weeksSection(data: ReportData): Section | null {
  const players = toldApart(data.players);
  if (players.length === 0) return null;
  const few = players.length <= FEW;
  const shown = players.map((player) => ({ player, weeks: few ? player.weeks : middleOf(player.weeks) }));
  let place = 0;
  return {
    id: 'weeks',
    title: 'Weeks as they went',
    parts: [
      paragraph(few ? EACH : `${EACH_MEDIAN} A report of one file has the best and the worst as well.`),
      ...shown.flatMap(({ player, weeks }) => [
        heading(player),
        ...weeks.map((week) => figureOf(player, week, ++place)),
      ]),
    ],
  };
}

const EACH = 'Of each player the weeks of the best, the median and the worst final score.';
const EACH_MEDIAN = 'Of each player the week of the median final score, since there are many.';

const middleOf = (weeks: readonly ChosenWeek[]): ChosenWeek[] => {
  const median = weeks.find(({ which }) => which === 'median') ?? weeks[0];
  return [median];
};

const heading = ({ name }: ReportedPlayer): Html => html`<h3><bdi>${name}</bdi></h3>\n`;

function figureOf({ name }: ReportedPlayer, week: ChosenWeek, place: number): Figure {
  const { which, condition, mode, seed, grader, finalScore } = week;
  const whose = `Condition ${condition}, ${mode}.`;
  const title = `${name}, ${which} week, seed ${seed}: ${decimals(finalScore)} under grader ${grader}`;
  return { name: `week-${place}`, drawing: drawTimeline({ title, notes: [whose], week: timelineOf(week) }) };
}
