/** What happens, for who listens. */
import { useEffect, useState } from 'preact/hooks';
import { announce } from '../../person/words.js';
import type { Shown } from './follow.js';

/** A moment's rest, so that a week that plays by itself is not told over itself. */
const REST = 250;

export function Told({ shown }: { readonly shown: Shown }) {
  const [told, tell] = useState('');
  useEffect(() => {
    const { moments, ending } = shown;
    const score = ending === null ? '' : ` Final score ${ending.finalScore.toFixed(3)}.`;
    const timer = setTimeout(() => tell(announce(moments[moments.length - 1]) + score), REST);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <p class="heard" role="status">
      {told}
    </p>
  );
}
