/** Formats an audit as a Markdown page, and draws its figures. */

import { drawActionSequences } from '../../figures/action-sequences.js';
import { drawComponents } from '../../figures/components.js';
import type { Drawing, NamedDrawing } from '../../figures/figure.js';
import { drawGains } from '../../figures/gains.js';
import { drawBands } from '../../figures/meter-bands.js';
import { drawRewards } from '../../figures/rewards.js';
import type { Interval } from '../../shared/statistics.js';
import { COMPONENT_NAMES } from '../../world/fields.js';
import { decimals, plainInterval } from '../format-results.js';
import { impossibleText } from './assessment.js';
import type { Audit } from './audit.js';
import type { MeanEpisode } from './audit-envs.js';
import type { AuditRow } from './gains.js';

/** Returns the page in Markdown. @param drawings figures that are stored beside the page as NAME.svg. */
export function reportOf(audit: Audit, drawings: readonly NamedDrawing[]): string {
  const picture = (name: string): string => {
    const figure = drawings.find((drawing) => drawing.name === name);
    return figure === undefined ? '' : `![${escapeMarkdown(figure.drawing.title)}](${name}.svg)`;
  };
  return [
    `# What grader ${escapeMarkdown(audit.grader)} pays for`,
    escapeMarkdown(audit.verdict),
    picture('gains'),
    '## Scores',
    scoresOf(audit),
    '`+constant` states the belief 0.5 each, `+fitted` the best constant belief, `+extreme` 0 or 1 each, `+random` another ' +
      'belief at each step, `+truth` the true belief. `oracle-open-loop` plays a sequence searched for each profile, on ' +
      'other seeds. `open-loop-honest` is the best sequence whose first half is no worse than the ' +
      "heuristic's. `reactive` chooses by step and meters alone. `push:COMPONENT` maximises one component. `planner` infers " +
      'the profile, `planner-prior` knows the prior alone, `planner-oracle` the profile.',
    '## Does it pay only for inference?',
    escapeMarkdown(audit.reason),
    checksOf(audit),
    escapeMarkdown(impossibleText(audit.impossible)),
    '## Beliefs without knowledge',
    `Their gain over stating no belief, on seeds ${audit.nullPlayers.seeds}.`,
    nullPlayersOf(audit),
    '## Anchors',
    'The best action sequence with its best constant belief, and the planner that knows the profile.',
    anchorsTable(audit),
    '## Gains by component',
    `Gain over the heuristic: weight times difference, with a 95 % interval. ${weightsOf(audit)}`,
    componentGainsOf(audit),
    picture('components'),
    '## Episodes',
    picture('action-sequences'),
    picture('rewards'),
    picture('meters'),
    '## Provenance',
    provenanceOf(audit),
    '',
  ]
    .filter((part, i, parts) => part !== '' || i === parts.length - 1)
    .join('\n\n');
}

/** Returns the table of scores, one row for each policy. */
export function scoresOf({ rows }: Audit): string {
  const heads = [
    'policy',
    'episodes',
    'final score',
    'over the heuristic',
    'behind the planner',
    'belief MAE',
    'first-half mean',
    'second-half mean',
  ];
  return table(
    heads,
    rows.map((row) => [
      row.policy,
      String(row.episodes),
      plainInterval(row.finalScore),
      plainInterval(row.gain),
      plainInterval(row.behindPlanner),
      decimals(row.beliefMae),
      decimals(row.firstHalfMean),
      decimals(row.secondHalfMean),
    ]),
  );
}

/** Returns the table of gains by component: weight times difference from the heuristic. */
export function componentGainsOf({ rows, graderWeights }: Audit): string {
  const names = COMPONENT_NAMES.filter((name) => graderWeights[name] !== 0);
  const gain = ({ components }: AuditRow) => names.map((name) => plainInterval(components[name].gain));
  return table(
    ['policy', ...names],
    rows.map((row) => [row.policy, ...gain(row)]),
  );
}

/** Returns the table of the figures that decide whether the grader pays only for inference. */
export function checksOf({ checks }: Audit): string {
  return table(
    ['compared', 'figure', 'threshold', 'holds'],
    checks.map(({ compared, value, bound, threshold, holds }) => [
      compared,
      plainInterval(value),
      `${bound} ${threshold}`,
      holds ? 'yes' : '**no**',
    ]),
  );
}

/** Returns the table of beliefs without knowledge, one row for each policy. */
export function nullPlayersOf({ nullPlayers }: Audit): string {
  const policies = [...new Set(nullPlayers.rows.map(({ policy }) => policy))];
  const rowsOf = (policy: string) => nullPlayers.rows.filter((row) => row.policy === policy);
  return table(
    ['policy', 'without a belief', ...rowsOf(policies[0]).map(({ belief }) => `+${belief}`)],
    policies.map((policy) => [
      policy,
      plainInterval(rowsOf(policy)[0].silent),
      ...rowsOf(policy).map(({ gain }) => plainInterval(gain)),
    ]),
  );
}

/** Returns the table of anchors, one row for each kind of profiles. */
export function anchorsTable({ anchors }: Audit): string {
  return table(
    ['profiles', 'open-loop with its belief', 'seeds', 'planner-oracle', 'seeds'],
    Object.entries(anchors).map(([kind, { sequence, sequenceSeeds, oracle, oracleSeeds }]) => [
      kind,
      plainInterval(sequence),
      sequenceSeeds,
      plainInterval(oracle),
      oracleSeeds,
    ]),
  );
}

const weightsOf = ({ graderWeights }: Audit): string => {
  const pairs = Object.entries(graderWeights).filter(([, weight]) => weight !== 0);
  return `Weights: ${pairs.map(([name, weight]) => `${name} ${weight}`).join(', ')}.`;
};

function provenanceOf(audit: Audit): string {
  const { seeds, machine } = audit;
  return [
    `- Training seeds: ${seeds.training} for all profiles (${audit.evaluations} sequences scored), ${seeds.perProfile} for each ` +
      `profile; search seed ${audit.seed}.`,
    `- Scores on fresh seeds ${seeds.fresh}, of \`oracle-open-loop\` on ${seeds.profiles}, of planners on ${seeds.planner}. Differences are paired.`,
    `- rhythm-vec ${audit.version}, world ${audit.worldDigest}, backend ${audit.backend}${audit.device === null ? '' : ` on ${escapeMarkdown(audit.device)}`}, kernel ${audit.kernel}, ` +
      `${audit.threads} threads, ${machine.cpu}, Node ${machine.node}: ${audit.seconds.toFixed(1)} s.`,
    ...audit.sequences.map(({ policy, actions }) => `- ${policy}: ${actions.join(', ')}.`),
  ].join('\n');
}

/** Escapes Markdown characters. */
const escapeMarkdown = (text: string): string => text.replace(/[\\`*_[\]<>|#&]/g, '\\$&');

const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [heads, heads.map((_, k) => (k === 0 ? '---' : '---:')), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');

/** The data of the figures. */
export interface AuditedGrader {
  readonly grader: string;
  readonly weights: Readonly<Record<string, number>>;
  readonly seeds: { readonly fresh: string; readonly profiles: string; readonly planner?: string };
  readonly rows: readonly GainRow[];
}

/** The gain and the components of one player (players.ts). */
export interface GainRow {
  /** Unique among the rows. */
  readonly name: string;
  readonly role: string;
  readonly gain: Interval;
  readonly components: Readonly<Record<string, { readonly mean: number }>>;
}

/** Gains are differences from this policy. */
const BASELINE = 'heuristic';

/** Draws the gain of each player over the heuristic. */
export const drawAuditGains = (audit: AuditedGrader): Drawing =>
  drawGains({
    title: `What grader ${audit.grader} pays for`,
    notes: [seedsNote(audit)],
    baseline: BASELINE,
    rows: audit.rows.filter(({ name }) => name !== BASELINE).map(({ name, gain }) => ({ name, gain })),
  });

/** Draws the components of all players' scores, except players of the roles `null` and `push` (see `Role` in players.ts). */
export const drawAuditComponents = (audit: AuditedGrader): Drawing =>
  drawComponents({
    title: `Final scores under grader ${audit.grader}, by component`,
    notes: [seedsNote(audit)],
    rows: audit.rows
      .filter(({ role }) => role !== 'push' && role !== 'null')
      .map(({ name, components }) => ({
        name,
        parts: COMPONENT_NAMES.map((component) => audit.weights[component] * components[component].mean),
      })),
  });

/** Returns the seeds of the scores, as text. */
export const seedsNote = ({ seeds }: Pick<AuditedGrader, 'seeds'>): string =>
  `Fresh seeds ${seeds.fresh}; oracle-open-loop ${seeds.profiles}` +
  (seeds.planner === undefined ? '.' : `; planners ${seeds.planner}.`);

/** Returns the figures of an audit, in the order of its report. */
export function drawingsOf(audit: Audit): NamedDrawing[] {
  const { grader, graderWeights: weights, seeds } = audit;
  const rows = audit.rows.map((row) => ({ ...row, name: row.policy }));
  const auditedGrader = { grader, weights, seeds, rows };
  // The last two figures leave out the sequences that raise one component alone, which would crowd them.
  const drawnEpisodes = audit.meanEpisodes.filter(({ policy }) => !policy.startsWith('push:'));
  const notes = [seedsNote(audit)];
  return [
    { name: 'gains', drawing: drawAuditGains(auditedGrader) },
    { name: 'components', drawing: drawAuditComponents(auditedGrader) },
    {
      name: 'action-sequences',
      drawing: drawActionSequences({
        title: `Best action sequences under grader ${grader}`,
        rows: audit.meanEpisodes.map((episode) => ({ name: labelOf(episode), actions: episode.actions })),
      }),
    },
    {
      name: 'rewards',
      drawing: drawRewards({
        notes,
        rows: drawnEpisodes.map(({ policy, rewards }) => ({ name: policy, rewards })),
      }),
    },
    {
      name: 'meters',
      drawing: drawBands({
        notes,
        rows: drawnEpisodes.map(({ policy, bands }) => ({ name: policy, bands })),
      }),
    },
  ];
}

/** Returns a row's label. If episodes differ, the row shows the most common action of each step. */
const labelOf = ({ policy, isSingleSequence }: MeanEpisode): string =>
  isSingleSequence ? policy : `${policy}, most common`;
