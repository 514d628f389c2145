/** The backends of browsers, under the name of Node's. vite.config.ts replaces src/engine/backends/node.ts by this file. */
export { BROWSER as NODE } from '../../../src/engine/backends/browser.js';
