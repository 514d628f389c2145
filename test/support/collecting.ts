/** Preloaded into a child process: at each SIGUSR2 it collects its garbage, and says on stderr what memory is left. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let collections = 0;
process.on('SIGUSR2', () => {
  // What a first collection finalizes, a second one frees.
  collect();
  setImmediate(() => {
    collect();
    collections += 1;
    process.stderr.write(`collected ${collections} ${JSON.stringify(process.memoryUsage())}\n`);
  });
});
