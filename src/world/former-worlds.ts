/** Earlier versions of the published world whose steps have the same rules, so that their files can be replayed. */
import { COMPONENT_NAMES } from './fields.js';
import { FORMER_COMPONENTS } from './resolve-names.js';

/** An earlier version of the published world. */
export interface FormerWorld {
  readonly version: string;
  /** Files of this world hold so many components: those that come first in COMPONENT_NAMES. */
  readonly numComponents: number;
}

/** Former worlds by digest. */
export const FORMER_WORLDS: ReadonlyMap<string, FormerWorld> = new Map([
  [
    'e7d450ebab2e446bd1fa2cfd6f4f6f6dcf054da152af974288c78d4defd11353',
    { version: '1.0.0', numComponents: FORMER_COMPONENTS },
  ],
]);

/** Returns the names of the components that files of a world hold. @param digest the world's digest. */
export const storedComponents = (digest: string): readonly string[] =>
  COMPONENT_NAMES.slice(0, FORMER_WORLDS.get(digest)?.numComponents);
