/** Section: missing contents of a report, and the commands that make them. */

import { html } from '../html.js';
import type { ReportData } from '../result-gatherer.js';
import type { Section } from '../section.js';

/** A part of a report, and the command that writes the file that it needs. */
interface Content {
  readonly what: string;
  readonly command: string;
  readonly isPresent: (data: ReportData) => boolean;
}

const CONTENTS: readonly Content[] = [
  {
    what: 'Scores of policies, beside the published scores',
    command: 'rhythm-vec eval --json results.json',
    isPresent: ({ sources }) => sources.some(({ kind }) => kind === 'evaluation' || kind === 'reevaluation'),
  },
  {
    what: 'Use of actions, and timelines of episodes',
    command: 'rhythm-vec eval --trajectories episodes.jsonl',
    isPresent: ({ players }) => players.length > 0,
  },
  {
    what: 'Belief errors and calibration, from players that state beliefs',
    command: 'rhythm-vec teach --seeds 100-129 --output teacher.jsonl',
    isPresent: ({ players }) => players.some(({ calibration }) => calibration !== null),
  },
  {
    what: 'What the grader pays for',
    command: 'rhythm-vec audit --json audit.json',
    isPresent: ({ audits }) => audits.length > 0,
  },
  {
    what: 'Cost of a language model',
    command: 'rhythm-vec eval --policies llm:MODEL --trajectories episodes.jsonl',
    isPresent: ({ costs }) => costs.some(({ spending }) => spending.metered > 0),
  },
];

/** Returns the section; null if nothing is missing. */
export function missingSection(data: ReportData): Section | null {
  const missing = CONTENTS.filter(({ isPresent }) => !isPresent(data));
  if (missing.length === 0) return null;
  const items = missing.map(({ what, command }) => html`<li>${what}: <code>${command}</code></li>\n`);
  return { id: 'missing', title: 'What is missing', parts: [html`<ul>${items}</ul>\n`] };
}
