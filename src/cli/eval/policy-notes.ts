/** What to know of policies in a table, a line each. */
import { MODEL_PREFIX } from '../../evaluate/choosing.js';
import type { RegradedRow } from '../../evaluate/regraded.js';
import { policyName } from '../../policies/policies.js';
import { ORACLE_MARK } from '../../trajectory/player-name.js';

/** By name; of who is asked before every step. */
const STEPPED: Readonly<Record<string, string>> = {
  'heuristic+inference': 'acts as heuristic does, and gives the belief that it infers from what it is shown.',
  'blind-tape+inference':
    'acts as blind-tape does, and gives the belief that it infers from what it is shown.',
  planner:
    'infers who the person is, and plans for THE SCORE, even where that pays for neglect of the first half.',
  'planner-wellbeing':
    "infers and plans as planner does, but wants the person's week to be good, and not the score.",
  'planner-prior':
    'plans for the score as planner does, but infers nothing: persons as the world draws them.',
};

/** Of all policies in a table that do not explain themselves. */
export const policyNotes = (rows: readonly RegradedRow[], grader: string): string[] => [
  ...tapeNotes(rows, grader),
  ...steppedNotes(rows),
  ...modelNotes(rows),
  ...oracleNotes(rows),
];

function tapeNotes(rows: readonly RegradedRow[], grader: string): string[] {
  const tapes = new Map(rows.flatMap(({ policy, tape }) => (tape === null ? [] : [[policy, tape] as const])));
  return Array.from(tapes, ([policy, tape]) => {
    const other = tape === grader ? '' : `, not for ${grader}`;
    return `${policy}: the same actions for everybody, found for grader ${tape}${other}.`;
  });
}

const namesIn = (rows: readonly RegradedRow[]): string[] => [...new Set(rows.map(policyName))];

const steppedNotes = (rows: readonly RegradedRow[]): string[] =>
  namesIn(rows).flatMap((name) => (Object.hasOwn(STEPPED, name) ? [`${name}: ${STEPPED[name]}`] : []));

/** Of language models, all alike. */
const modelNotes = (rows: readonly RegradedRow[]): string[] => {
  const asked = namesIn(rows).filter((name) => name.startsWith(MODEL_PREFIX));
  return asked.length === 0
    ? []
    : [
        `${asked.join(', ')}: asked in words before every step, and shown what any agent is; what the answers say is played.`,
      ];
};

const oracleNotes = (rows: readonly RegradedRow[]): string[] =>
  namesIn(rows.filter(({ oracle }) => oracle)).map(
    (name) =>
      `${name}${ORACLE_MARK}: wants the score, and is shown who the persons are. No agent can do what it does.`,
  );
