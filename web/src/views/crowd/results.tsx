/** The results of a crowd below the finding (finding.tsx), each section drawn in a task of its own. */
import type { ComponentType } from 'preact';
import { useMemo } from 'preact/hooks';
import { useStages } from '../../parts/use-stages.js';
import { Digests } from './digests.js';
import type { NamedCrowd } from './format.js';
import { MetersPicture, PartsPicture } from './pictures.js';

const SECTIONS: readonly ComponentType<{ readonly crowd: NamedCrowd }>[] = [
  MetersPicture,
  PartsPicture,
  Digests,
];

interface CrowdResultsProps {
  readonly crowd: NamedCrowd;
  /** Whether this crowd or the next one is still being computed. */
  readonly busy: boolean;
  /** The CSS class 'old' while the results are those of earlier settings; else ''. */
  readonly ageClass: string;
}

export function CrowdResults({ crowd, busy, ageClass }: CrowdResultsProps) {
  const stages = useStages(crowd, SECTIONS.length);
  const isBehind = stages.some((shown) => shown !== crowd);
  return (
    <div class={`results ${ageClass}`} aria-busy={busy || isBehind}>
      {SECTIONS.map((Section, k) => (
        <Stage key={k} Section={Section} crowd={stages[k]} />
      ))}
    </div>
  );
}

interface StageProps {
  readonly Section: ComponentType<{ readonly crowd: NamedCrowd }>;
  readonly crowd: NamedCrowd | null;
}

/** One section of the results. It is drawn again only if its crowd changes. */
const Stage = ({ Section, crowd }: StageProps) =>
  useMemo(() => crowd && <Section crowd={crowd} />, [Section, crowd]);
