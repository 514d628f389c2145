/** Types of Vega-Lite specifications. Types that the package exports must not depend on them. */
import type { TopLevelSpec } from 'vega-lite';

/** A whole specification. */
export type TopView = TopLevelSpec;

/** A part of a specification. */
export type View = Extract<TopLevelSpec, { vconcat: unknown }>['vconcat'][number];

/** A layer. */
export type Layer = Extract<TopLevelSpec, { layer: unknown }>['layer'][number];
