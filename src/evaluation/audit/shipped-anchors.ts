/** The anchors of the shipped graders. */
import { ANCHORS_DATA } from './anchors-data.js';
import type { GraderAnchors } from './anchors-of.js';

/** Returns the anchors of a shipped grader, and null for other graders. @param grader 'v1', 'v2' or 'v3'. */
export const shippedAnchors = (grader: string): GraderAnchors | null =>
  ANCHORS_DATA.find((anchors) => anchors.grader === grader) ?? null;
