/** Exports the backends of browsers as `NODE`: vite.config.ts replaces src/engine/backends/node.ts with this file. */
export { BROWSER as NODE } from '../../../src/engine/backends/browser.js';
