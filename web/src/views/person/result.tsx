/** The view of an episode that has ended. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { EpisodeResult } from '../../person/episode-types.js';
import { rivalsIn } from '../daily/rivals.js';
import { CurrentState } from './current-state.js';
import type { EpisodeSoFar } from './episode-store.js';
import { Grade, Others } from './grade.js';
import { HiddenProfile } from './hidden-profile.js';

interface ResultProps {
  readonly episode: EpisodeSoFar;
  readonly result: EpisodeResult;
  /** Whether the visitor took the last step here; a link may lead directly to the end. */
  readonly finishedHere: boolean;
}

export function Result({ episode, result, finishedHere }: ResultProps) {
  const head = useRef<HTMLHeadingElement>(null);
  // The button that had the focus is gone, so the focus moves here for keyboard users.
  useLayoutEffect(() => {
    if (finishedHere && document.activeElement === document.body) head.current?.focus();
  }, [finishedHere]);
  return (
    <div class="now-and-next">
      <div class="column">
        <section class="panel" aria-labelledby="who">
          <h2 id="who" ref={head} tabIndex={-1}>
            Who it was
          </h2>
          <HiddenProfile result={result} />
        </section>
        <CurrentState episode={episode} />
      </div>
      <div class="column">
        <section class="panel" aria-labelledby="worth">
          <h2 id="worth">The grade</h2>
          <Grade result={result} grader={episode.setting.grader} />
        </section>
        <section class="panel" aria-labelledby="others">
          <h2 id="others">What policies would have scored</h2>
          <p class="note">Each policy plays the same person with the same luck and grader.</p>
          <Others result={result} rivals={rivalsIn(episode.setting)} />
        </section>
      </div>
    </div>
  );
}
