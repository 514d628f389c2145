/**
 * The subpath `rhythm-vec/server`: the server of `rhythm-vec serve`, in a program.
 * @module
 */

export { openServer } from '../server/open-server.js';
export type { RunningServer } from '../server/server.js';
export type { ServeOptions } from '../server/server-options.js';
