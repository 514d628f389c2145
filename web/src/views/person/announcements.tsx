/** Announces steps and the final score to screen readers. */
import { useLayoutEffect, useState } from 'preact/hooks';
import { announce } from '../../person/descriptions.js';
import type { EpisodeSoFar } from './episode-store.js';

/**
 * Milliseconds until a step is announced. A step is not announced if the next step comes sooner, so that speech keeps up.
 * Chosen by hand: a shorter delay interrupts the speech more often, and a longer delay announces steps later.
 */
const DELAY = 250;
/** Milliseconds until a step is announced while a policy plays continuously. Chosen by hand. */
const DELAY_WHILE_PLAYING = 1000;

interface AnnouncementsProps {
  readonly episode: EpisodeSoFar;
  /** Whether a policy plays continuously. */
  readonly playing: boolean;
}

export function Announcements({ episode, playing }: AnnouncementsProps) {
  const [text, setText] = useState('');
  useLayoutEffect(() => {
    const { transitions, result } = episode;
    const score = result === null ? '' : ` Final score ${result.finalScore.toFixed(3)}.`;
    const delay = playing && result === null ? DELAY_WHILE_PLAYING : DELAY;
    const timer = setTimeout(() => setText(announce(transitions[transitions.length - 1]) + score), delay);
    return () => clearTimeout(timer);
  }, [episode, playing]);
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  );
}
