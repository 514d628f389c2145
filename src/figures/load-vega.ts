/** Loads Vega and Vega-Lite on first use. */
import { load } from '../shared/optional-packages.js';

interface Vega {
  readonly vega: typeof import('vega');
  readonly compile: typeof import('vega-lite').compile;
}

/** @internal Loads both packages. @throws LibraryError `library_missing`. */
export const loadVega = (): Promise<Vega> =>
  load('SVG figures', ['vega@6', 'vega-lite@6.4'], async () => {
    const [vega, vegaLite] = await Promise.all([import('vega'), import('vega-lite')]);
    return { vega, compile: vegaLite.compile };
  });
