/** Section: what the results show, in a few sentences. */
import { decimals, grouped, plainInterval } from '../../evaluation/format-results.js';
import { ORACLE_MARK } from '../../rollouts/trajectories/trajectory-episode.js';
import { type Html, html } from '../html.js';
import type { ReportData } from '../result-gatherer.js';
import type { Section } from '../section.js';
import { type ScoreGroup, scoreGroups } from './scores.js';

/** Returns the section; null if there are neither scores nor audits. */
export function summarySection({ scores, audits }: ReportData): Section | null {
  const graders = [...new Set(scores.map(({ grader }) => grader))];
  const sentences = [
    ...graders.flatMap((grader) =>
      scoreGroups(scores.filter((row) => row.grader === grader)).map((group) => bestOf(grader, group)),
    ),
    ...audits.map(
      ({ source, audit: { grader, verdict } }) =>
        html`<li>Audit of grader <bdi>${grader}</bdi> (<bdi>${source}</bdi>): ${verdict}</li>\n`,
    ),
  ];
  if (sentences.length === 0) return null;
  return { id: 'summary', title: 'Summary', parts: [html`<ul class="summary">${sentences}</ul>\n`] };
}

/** Returns a list item: the policies with the highest and the next mean score, and the one with the smallest belief error. */
function bestOf(grader: string, { name, rows }: ScoreGroup): Html {
  // Oracles use hidden state, so they are left out, unless there are only oracles.
  const agents = rows.filter((row) => !row.name.includes(ORACLE_MARK));
  const compared = agents.length > 0 ? agents : rows;
  const [best, next] = [...compared].sort((a, b) => b.finalScore.mean - a.finalScore.mean);
  const [closest] = [...compared].sort((a, b) => a.beliefMae - b.beliefMae);
  const where = html`Grader <bdi>${grader}</bdi>, <bdi>${name}</bdi>`;
  const score = html`<strong><bdi>${best.name}</bdi> scores ${plainInterval(best.finalScore)}</strong>`;
  if (next === undefined)
    return html`<li>${where}: ${score}; its belief error is ${decimals(best.beliefMae)}.</li>\n`;
  const lead = html`the highest mean of ${grouped(compared.length)} policies; next is <bdi>${next.name}</bdi> with ${decimals(next.finalScore.mean)}`;
  const belief = html`<bdi>${closest.name}</bdi> has the smallest belief error, ${decimals(closest.beliefMae)}.`;
  return html`<li>${where}: ${score}, ${lead}. ${belief}</li>\n`;
}
