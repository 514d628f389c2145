/**
 * The anchors of the built-in graders, which the package ships: the scores without and with knowledge of the profile, between
 * which other scores are placed (see anchors-of.ts).
 */
import { ANCHORS_DATA } from './anchors-data.js';
import type { GraderAnchors } from './anchors-of.js';

/** Returns the anchors of a built-in grader, 'v1', 'v2' or 'v3'; null for other graders. */
export const shippedAnchors = (grader: string): GraderAnchors | null =>
  ANCHORS_DATA.find((anchors) => anchors.grader === grader) ?? null;
