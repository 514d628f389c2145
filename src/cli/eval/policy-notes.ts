/** Writes the notes on policies below a table. */

import { policyName } from '../../agents/policies/fixed-policies.js';
import { STUDENT_NAMES } from '../../agents/student/student.js';
import type { RegradedRow } from '../../evaluation/regrade-stored.js';
import { MODEL_PREFIX } from '../../evaluation/user-policy.js';
import { ORACLE_MARK } from '../../rollouts/trajectories/trajectory-episode.js';

/** Notes on policies with fixed names, by name. */
const NOTES: Readonly<Record<string, string>> = {
  'heuristic+inference': 'acts as heuristic, and states the belief inferred from the observations.',
  'open-loop+inference': 'acts as open-loop, and states the belief inferred from the observations.',
  planner: 'infers the profile and plans for THE SCORE, even if that rewards neglect of the first half.',
  'planner-wellbeing': "infers and plans as planner, but for the person's wellbeing instead of the score.",
  'planner-prior':
    'plans for the score as planner, but infers nothing: it plans with profiles from the prior.',
  ...Object.fromEntries(STUDENT_NAMES.map((name) => [name, studentNote(name)])),
};

/** Describes a student. @param name such as "student-v2" or "student-v2-clone". */
function studentNote(name: string): string {
  const [, grader, clone] = name.split('-');
  const refined = clone === undefined ? ', and was then trained further on episodes that it played' : '';
  return `a network that was trained for ${grader}. It learned to imitate the planner${refined}.`;
}

/** Returns notes on all policies that need an explanation. */
export const policyNotes = (rows: readonly RegradedRow[], grader: string): string[] => [
  ...sequenceNotes(rows, grader),
  ...fixedNotes(rows),
  ...modelNotes(rows),
  ...oracleNotes(rows),
];

function sequenceNotes(rows: readonly RegradedRow[], grader: string): string[] {
  const sequences = new Map(
    rows.flatMap(({ policy, sequenceGrader }) =>
      sequenceGrader === null ? [] : [[policy, sequenceGrader] as const],
    ),
  );
  return Array.from(sequences, ([policy, sequenceGrader]) => {
    const what =
      policy === 'reactive' ? 'chooses by the step and the meters alone' : 'one fixed action sequence';
    const other = sequenceGrader === grader ? '' : `, not for ${grader}`;
    return `${policy}: ${what}, found for grader ${sequenceGrader}${other}.`;
  });
}

const namesIn = (rows: readonly RegradedRow[]): string[] => [...new Set(rows.map(policyName))];

const fixedNotes = (rows: readonly RegradedRow[]): string[] =>
  namesIn(rows).flatMap((name) => (Object.hasOwn(NOTES, name) ? [`${name}: ${NOTES[name]}`] : []));

/** Returns one note for all language models. */
const modelNotes = (rows: readonly RegradedRow[]): string[] => {
  const models = namesIn(rows).filter((name) => name.startsWith(MODEL_PREFIX));
  return models.length === 0
    ? []
    : [
        `${models.join(', ')}: prompted before every step with the observations that any agent gets; the parsed answers are played.`,
      ];
};

const oracleNotes = (rows: readonly RegradedRow[]): string[] =>
  namesIn(rows.filter(({ oracle }) => oracle)).map(
    (name) => `${name}${ORACLE_MARK}: uses hidden state, so it is not a valid agent.`,
  );
