/** Notes about limits of the backend, shown below the settings of the crowd. */
import { currentBackend } from '../../engine/client.js';
import { MAX_ON_REFERENCE } from '../../engine/crowd/crowd-request.js';
import { grouped } from '../../parts/grouped.js';

/** The number of episodes above which the note about software adapters is shown: about a second at WEEKS_PER_SECOND. */
const MANY_ON_SOFTWARE = 100_000;
/** The assumed speed of a software adapter, in weeks of one person (episodes) per second. Chosen by hand. */
const WEEKS_PER_SECOND = 100_000;

export function Limits({ people }: { readonly people: number }) {
  const chosen = currentBackend.value;
  if (chosen === null) return null;
  if (chosen.name === 'reference') {
    if (people <= MAX_ON_REFERENCE) return null;
    return (
      <p class="note limits">
        Limit: at most {grouped(MAX_ON_REFERENCE)} people, because without a graphics device this page
        computes one week after the other.
      </p>
    );
  }
  if (!chosen.software || people <= MANY_ON_SOFTWARE) return null;
  return (
    <p class="note limits">
      Limit: the graphics device is emulated by the processor and computes about {grouped(WEEKS_PER_SECOND)}{' '}
      weeks a second. {grouped(people)} people take about {grouped(Math.ceil(people / WEEKS_PER_SECOND))}{' '}
      seconds for each policy.
    </p>
  );
}
