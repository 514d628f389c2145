/** Collects garbage at each SIGUSR2, and writes the memory usage to stderr. Child processes preload this file. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let collections = 0;
process.on('SIGUSR2', () => {
  // A second collection frees what the first one finalized.
  collect();
  setImmediate(() => {
    collect();
    collections += 1;
    process.stderr.write(`collected ${collections} ${JSON.stringify(process.memoryUsage())}\n`);
  });
});
