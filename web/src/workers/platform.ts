/** What planners imagine with, in the place of src/backends/node.ts: see vite.config.ts. */
export { BROWSER as NODE } from '../../../src/backends/browser.js';
