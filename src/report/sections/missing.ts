/** What a report could have besides, and which command makes it. */
import type { ReportData } from '../gathered.js';
import { html } from '../html.js';
import type { Section } from '../section.js';

interface Wish {
  readonly what: string;
  readonly command: string;
  readonly isThere: (data: ReportData) => boolean;
}

const WISHES: readonly Wish[] = [
  {
    what: 'Scores of policies with published figures',
    command: 'rhythm-vec eval --json results.json',
    isThere: ({ sources }) => sources.some(({ kind }) => kind === 'evaluation' || kind === 'reevaluation'),
  },
  {
    what: 'Use of actions, and weeks as timelines',
    command: 'rhythm-vec eval --trajectories weeks.jsonl',
    isThere: ({ players }) => players.length > 0,
  },
  {
    what: 'Belief errors and calibration, by players that give beliefs',
    command: 'rhythm-vec teach --teacher planner --seeds 100-129 --output teacher.jsonl',
    isThere: ({ players }) => players.some(({ calibration }) => calibration !== null),
  },
  {
    what: 'What the grader pays for',
    command: 'rhythm-vec audit --json audit.json',
    isThere: ({ audits }) => audits.length > 0,
  },
  {
    what: 'Cost, by a language model',
    command: 'rhythm-vec eval --policies llm:MODEL --trajectories weeks.jsonl',
    isThere: ({ costs }) => costs.some(({ spending }) => spending.metered > 0),
  },
];

/** Null where everything is there. */
export function missingSection(data: ReportData): Section | null {
  const wishes = WISHES.filter(({ isThere }) => !isThere(data));
  if (wishes.length === 0) return null;
  const items = wishes.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`);
  return { id: 'missing', title: 'What is missing', parts: [html`<ul>${items}</ul>\n`] };
}
