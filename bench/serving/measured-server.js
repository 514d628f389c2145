// A server that measures itself between the messages 'begin' and 'end' of its parent process.
// Written in JavaScript, so that the measured process loads only Node and the package.
import { readFileSync, writeFileSync } from 'node:fs';
import { openServer } from '../../dist/server/open-server.js';

const server = await openServer({ port: 0 });
const isLinux = process.platform === 'linux';
let atBegin = { cpu: process.cpuUsage(), resident: 0 };
let longest = 0;
let lastTick = 0;
let timer;

/** Returns a figure of /proc/self/status in bytes: VmRSS is the resident memory, VmHWM its peak since the last `resetPeak`. */
const statusOf = (name) =>
  Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(readFileSync('/proc/self/status', 'utf8'))[1]) *
  1024;

/** Resets VmHWM. */
const resetPeak = () => writeFileSync('/proc/self/clear_refs', '5');

/** Returns milliseconds: on Linux the CPU time of this thread, which excludes other processes; on other systems wall time. */
function now() {
  if (!isLinux) return performance.now();
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** Measures the work since the last tick, and keeps the longest time. */
function tick() {
  const time = now();
  longest = Math.max(longest, time - lastTick);
  lastTick = time;
}

function begin() {
  // Collects twice, because finalizers of the first collection free buffers.
  for (let k = 0; k < 2; k++) globalThis.gc();
  if (isLinux) resetPeak();
  atBegin = { cpu: process.cpuUsage(), resident: isLinux ? statusOf('VmRSS') : 0 };
  longest = 0;
  lastTick = now();
  timer = setInterval(tick, 1);
}

function end() {
  tick();
  clearInterval(timer);
  const { user, system } = process.cpuUsage(atBegin.cpu);
  return {
    cpuMs: (user + system) / 1000,
    longestMs: longest,
    addedBytes: isLinux ? statusOf('VmHWM') - atBegin.resident : null,
  };
}

process.on('message', (name) => {
  if (name === 'begin') begin();
  // The delay, chosen by hand, lets the timer start after 'begin', and the last piece of work finish before `end`.
  setTimeout(() => process.send(name === 'begin' ? {} : end()), 5);
});
process.on('disconnect', () => process.exit());
process.send({ url: server.url });
