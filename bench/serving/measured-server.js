// A server that measures itself: its parent sends 'begin' and 'end', and gets what happened between them.
// JavaScript, so that nothing but Node and the package is in the process that is measured.
import { readFileSync, writeFileSync } from 'node:fs';
import { openServer } from '../../dist/server/server.js';

const server = await openServer({ port: 0 });
const isLinux = process.platform === 'linux';
let begun = { cpu: process.cpuUsage(), resident: 0 };
let longest = 0;
let before = 0;
let ticking;

/** Bytes: VmRSS is resident now, VmHWM at most since the last `forgetPeak`. */
const statusOf = (name) =>
  Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))[1]) *
  1024;

/** Writing 5 resets VmHWM. */
const forgetPeak = () => writeFileSync('/proc/self/clear_refs', '5');

/** Milliseconds that this thread has worked: others may use the processors meanwhile. */
function now() {
  if (!isLinux) return performance.now();
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Notes how long the piece of work was that ended. */
function tick() {
  const here = now();
  longest = Math.max(longest, here - before);
  before = here;
}

function begin() {
  // Twice: finalizers of the first collection free buffers.
  for (let k = 0; k < 2; k++) globalThis.gc();
  if (isLinux) forgetPeak();
  begun = { cpu: process.cpuUsage(), resident: isLinux ? statusOf('VmRSS') : 0 };
  longest = 0;
  before = now();
  ticking = setInterval(tick, 1);
}

function end() {
  tick();
  clearInterval(ticking);
  const { user, system } = process.cpuUsage(begun.cpu);
  return {
    cpuMs: (user + system) / 1000,
    longestMs: longest,
    addedBytes: isLinux ? statusOf('VmHWM') - begun.resident : null,
  };
}

process.on('message', (what) => {
  // An interval later the loop is watched, and the last piece is over.
  if (what === 'begin') begin();
  setTimeout(() => process.send(what === 'begin' ? {} : end()), 5);
});
process.on('disconnect', () => process.exit());
process.send({ url: server.url });
