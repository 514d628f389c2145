/** The types of specifications, for the compiler alone: what the package exports must not need them. */
import type { TopLevelSpec } from 'vega-lite';

/** A whole specification. */
export type TopView = TopLevelSpec;

/** A part of one. */
export type View = Extract<TopLevelSpec, { vconcat: unknown }>['vconcat'][number];

/** One of the views that lie on each other. */
export type Layer = Extract<TopLevelSpec, { layer: unknown }>['layer'][number];
