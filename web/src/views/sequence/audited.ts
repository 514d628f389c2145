/** Mean final scores from the audits of docs/audits, to compare a sequence with. */

/** The policies to compare with, and their names on the page. */
export const COMPARED = {
  'heuristic+constant': 'heuristic, belief 0.5',
  'open-loop+constant': 'best found, belief 0.5',
  planner: 'planner',
} as const;

export type Compared = keyof typeof COMPARED;

/** By grader and policy. vite.config.ts reads them from the audits. */
declare const AUDITED_SCORES: Readonly<Record<string, Readonly<Record<Compared, number>>>>;

/** Returns the audited mean of a policy. @param grader a name of GRADER_NAMES. */
export const auditedScore = (grader: string, policy: Compared): number => AUDITED_SCORES[grader][policy];
