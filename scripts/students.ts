/**
 * Trains the students of the package from scratch, one after the other, and writes their files and their modules
 * (src/agents/student/generated). After an interruption the next run trains the finished students again, and continues the
 * training that was interrupted.
 * Takes about fifteen minutes of one core.
 *
 * With --folder FOLDER it does not change the package: it trains students with each seed of --seeds, writes them to FOLDER/SEED
 * with logs for `npm run student-curves`, and does not train finished students again.
 *
 * --grader v2 or --grader v3 trains only the students of that grader.
 */
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GRADERS, trainStudent } from './student-trainings.js';

const PACKAGE = fileURLToPath(new URL('../python/rhythm_vec/students/', import.meta.url));

const { values } = parseArgs({
  options: {
    folder: { type: 'string' },
    grader: { type: 'string' },
    seeds: { type: 'string', default: '0,1,2,3,4' },
  },
});
const graders = GRADERS.filter((grader) => values.grader === undefined || grader === values.grader);

if (values.folder === undefined) {
  for (const grader of graders) await trainStudent({ grader, seed: 0, folder: PACKAGE, isLogged: false });
  // Writes the modules of the students.
  await import('./generate.js');
} else {
  for (const seed of values.seeds.split(',').map(Number)) {
    const folder = `${resolve(values.folder, String(seed))}/`;
    mkdirSync(folder, { recursive: true });
    for (const grader of graders) await trainStudent({ grader, seed, folder, isLogged: true });
  }
}
