/** The end of a week: who the person was, what was believed, and what the week was worth. */
import { useEffect, useRef } from 'preact/hooks';
import type { Ending } from '../../person/week.js';
import type { Shown } from './follow.js';
import { Grade } from './grade.js';
import { Truth } from './truth.js';

interface EndingProps {
  readonly shown: Shown;
  readonly ending: Ending;
}

export function EndingPanels({ shown, ending }: EndingProps) {
  const head = useRef<HTMLHeadingElement>(null);
  // What was focused is gone: who plays by keyboard goes on reading here.
  useEffect(() => {
    if (document.activeElement === document.body) head.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="ending">
      <section class="panel" aria-labelledby="who">
        <h2 id="who" ref={head} tabIndex={-1}>
          Who it was
        </h2>
        <Truth ending={ending} />
      </section>
      <section class="panel" aria-labelledby="worth">
        <h2 id="worth">What the week was worth</h2>
        <Grade ending={ending} grader={shown.setting.grader} />
      </section>
    </div>
  );
}
