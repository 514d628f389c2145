/** Mean final scores from the audits of docs/audits, to compare a sequence with. */
import type { YARDSTICK_POLICIES } from '../../../../src/evaluation/stored-scores.js';

/** The policies to compare with. */
export const COMPARED = [
  'heuristic+constant',
  'open-loop',
  'open-loop+constant',
  'reactive+constant',
  'planner-prior',
  'planner',
] as const;

export type Compared = (typeof COMPARED)[number];

/** By grader and policy. vite.config.ts reads them from the audits. */
declare const AUDITED_SCORES: Readonly<Record<string, Readonly<Record<Compared, number>>>>;

/** Returns the audited mean of a policy. @param grader a name of GRADER_NAMES. */
export const auditedScore = (grader: string, policy: Compared): number => AUDITED_SCORES[grader][policy];

/** The policies of the yardstick. */
const YARDSTICK: typeof YARDSTICK_POLICIES = [
  'open-loop',
  'open-loop+constant',
  'reactive+constant',
  'planner-prior',
];

/** Returns the yardstick: the highest audited mean of a policy that infers nothing. @param grader as in `auditedScore`. */
export const auditedYardstick = (grader: string): number =>
  Math.max(...YARDSTICK.map((policy) => auditedScore(grader, policy)));
