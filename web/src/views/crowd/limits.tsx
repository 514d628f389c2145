/** What is limited here, said before somebody waits for it. */
import { shownEngine } from '../../engine/client.js';
import { MOST_ON_REFERENCE } from '../../engine/crowd/request.js';
import { count } from './words.js';

/** Above so many people it is worth a word. */
const MANY = 100_000;

export function Limits({ people }: { readonly people: number }) {
  const engine = shownEngine.value;
  if (engine === null) return null;
  if (engine.backend === 'reference') {
    return (
      <p class="note limits">
        This is limited here: without a graphics device the reference lives the weeks one after the other,
        those of {count(MOST_ON_REFERENCE)} people at most.
      </p>
    );
  }
  if (!engine.software || people <= MANY) return null;
  return (
    <p class="note limits">
      This is limited here: the “graphics device” is a software adapter, a processor that pretends to be one.
      It lives some hundred thousand weeks a second, so {count(people)} people may take half a minute. A real
      graphics device takes moments.
    </p>
  );
}
