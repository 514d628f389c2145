/** The end of a week: who the person was, what was believed, and what the week was worth. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Ending } from '../../person/week.js';
import type { Shown } from './follow.js';
import { Grade, Others } from './grade.js';
import { Now } from './now.js';
import { Truth } from './truth.js';

interface OverProps {
  readonly shown: Shown;
  readonly ending: Ending;
  /** Whether it was seen to end: a link may begin here. */
  readonly seen: boolean;
}

export function Over({ shown, ending, seen }: OverProps) {
  const head = useRef<HTMLHeadingElement>(null);
  // What had the focus is gone: who plays by keyboard goes on reading here.
  useLayoutEffect(() => {
    if (seen && document.activeElement === document.body) head.current?.focus();
  }, [seen]);
  return (
    <div class="now-and-next">
      <div class="column">
        <section class="panel" aria-labelledby="who">
          <h2 id="who" ref={head} tabIndex={-1}>
            Who it was
          </h2>
          <Truth ending={ending} />
        </section>
        <Now shown={shown} />
      </div>
      <div class="column">
        <section class="panel" aria-labelledby="worth">
          <h2 id="worth">What the week was worth</h2>
          <Grade ending={ending} grader={shown.setting.grader} />
        </section>
        <section class="panel" aria-labelledby="others">
          <h2 id="others">What others would have made of it</h2>
          <p class="note">The same person, luck and grader.</p>
          <Others ending={ending} />
        </section>
      </div>
    </div>
  );
}
