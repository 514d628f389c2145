/** The backends of planners in browsers. vite.config.ts puts this file in the place of src/engine/backends/node.ts. */
export { BROWSER as NODE } from '../../../src/engine/backends/browser.js';
