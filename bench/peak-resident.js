// The peak memory of this process. Written in JavaScript, so that a measured process loads only Node and the package.
import { readFileSync } from 'node:fs';

/** Returns the peak of resident bytes so far. */
export function peakResident() {
  // On Linux, resourceUsage() may report the peak of the parent process.
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}
