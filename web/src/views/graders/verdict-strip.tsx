/** The verdict and the first three places, which stay at the top of a narrow screen. */
import type { Place } from '../../graders/ties.js';

interface VerdictStripProps {
  readonly heading: string;
  /** What the grader pays for (`Verdict`), as a CSS class. */
  readonly pays: string;
  readonly places: readonly Place[];
}

const SHOWN = 3;

/** Hidden from screen readers, which have the verdict and the ranking. */
export const VerdictStrip = ({ heading, pays, places }: VerdictStripProps) => (
  <div class={`verdict-strip ${pays}`} aria-hidden="true">
    <p>{heading}</p>
    <ol>
      {places.slice(0, SHOWN).map(({ policies: [first, ...others], finalScore }) => (
        <li key={first}>
          <span>
            {first}
            {others.length > 0 && ` and ${others.length} more`}
          </span>
          <span>{finalScore.mean.toFixed(3)}</span>
        </li>
      ))}
    </ol>
  </div>
);
