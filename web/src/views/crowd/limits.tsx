/** Notes about limits of the backend, shown before a run. */
import { currentEngine } from '../../engine/client.js';
import { MAX_ON_REFERENCE } from '../../engine/crowd/crowd-request.js';
import { count } from './format.js';

/** The number of episodes above which the note about software adapters is shown. */
const MANY_ON_SOFTWARE = 100_000;

export function Limits({ people }: { readonly people: number }) {
  const engine = currentEngine.value;
  if (engine === null) return null;
  if (engine.backend === 'reference') {
    return (
      <p class="note limits">
        Limit: at most {count(MAX_ON_REFERENCE)} people, because without a graphics device the reference
        computes one week after the other.
      </p>
    );
  }
  if (!engine.software || people <= MANY_ON_SOFTWARE) return null;
  return (
    <p class="note limits">
      Limit: the graphics device is emulated by the processor and computes about a hundred thousand weeks a
      second, so {count(people)} people may take half a minute.
    </p>
  );
}
