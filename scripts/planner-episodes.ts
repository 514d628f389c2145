/**
 * Plays the episodes of the planner that teach the students of the page, and writes them to web/src/training/generated:
 * `npm run planner-episodes`. Takes about fifteen minutes of one core. --grader writes the file of one grader.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { labelEpisodes } from '../src/training/student/episodes.js';
import { toTrainRequest } from '../src/training/student/train-options.js';
import { GRADER_NAMES } from '../src/world/fields.js';
import { EPISODES, measure, pack } from '../web/src/training/episodes.js';

/** Episodes that are played together. */
const TOGETHER = 50;
const FOLDER = new URL('../web/src/training/generated/', import.meta.url);
const { values } = parseArgs({ options: { grader: { type: 'string' } } });
const { signal } = new AbortController();

for (const name of GRADER_NAMES.filter((each) => each === (values.grader ?? each))) {
  const { teacher, grader } = toTrainRequest({ teacher: 'planner', grader: name });
  const measurement = await measure(teacher.open, grader, signal);
  writeFileSync(new URL(`planner-${name}.json`, FOLDER), `${JSON.stringify(measurement)}\n`);
  const parts: Uint8Array[] = [];
  for (let done = 0; done < EPISODES.count; done += TOGETHER) {
    const seeds = Uint32Array.from({ length: TOGETHER }, (_, i) => EPISODES.first + done + i);
    const { actions } = await labelEpisodes(seeds, {
      teacher,
      grader,
      signal,
      student: null,
      engine: { threads: 1 },
    });
    parts.push(pack(actions));
    process.stderr.write(`\r${name}: ${done + TOGETHER} of ${EPISODES.count} episodes`);
    writeFileSync(new URL(`planner-${name}.bin`, FOLDER), Buffer.concat(parts));
  }
}
