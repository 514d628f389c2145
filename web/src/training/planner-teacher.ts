/** The planner as a teacher: its stored episodes, and how it plays the measured episodes. Loaded when it teaches. */
import type { Played } from '../../../src/training/student/episodes.js';
import v1Url from './generated/planner-v1.bin?url';
import v1 from './generated/planner-v1.json';
import v2Url from './generated/planner-v2.bin?url';
import v2 from './generated/planner-v2.json';
import v3Url from './generated/planner-v3.bin?url';
import v3 from './generated/planner-v3.json';
import { unpack } from './planner-episodes.js';
import type { Measurement } from './training-types.js';

const FILES: Readonly<Record<string, { readonly url: string; readonly measurement: Measurement }>> = {
  v1: { url: v1Url, measurement: v1 },
  v2: { url: v2Url, measurement: v2 },
  v3: { url: v3Url, measurement: v3 },
};

/** Loads the planner's first episodes under a grader. @param count of the episodes. */
export async function loadPlanner(
  grader: string,
  count: number,
): Promise<{ readonly stored: Played; readonly measurement: Measurement }> {
  const { url, measurement } = FILES[grader];
  const response = await fetch(url);
  if (!response.ok) throw new Error(`Expected the planner's episodes, got the status ${response.status}.`);
  return { stored: unpack(new Uint8Array(await response.arrayBuffer()), count), measurement };
}
