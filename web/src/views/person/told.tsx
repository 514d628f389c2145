/** What happens, for who listens. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { announce } from '../../person/words.js';
import type { Shown } from './follow.js';

/** Milliseconds until a step is told: one that another follows at once is not, else voices would lag behind a week's end. */
const REST = 250;
const REST_WHILE_PLAYING = 1000;

interface ToldProps {
  readonly shown: Shown;
  /** Whether a policy goes on by itself. */
  readonly playing: boolean;
}

export function Told({ shown, playing }: ToldProps) {
  const [told, tell] = useState('');
  useLayoutEffect(() => {
    const { moments, ending } = shown;
    const score = ending === null ? '' : ` Final score ${ending.finalScore.toFixed(3)}.`;
    const rest = playing && ending === null ? REST_WHILE_PLAYING : REST;
    const timer = setTimeout(() => tell(announce(moments[moments.length - 1]) + score), rest);
    return () => clearTimeout(timer);
  }, [shown, playing]);
  return (
    <p class="heard" role="status">
      {told}
    </p>
  );
}
