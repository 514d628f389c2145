/**
 * The settings with which workers run the shards of a language model's job. They are not part of the job, and its next
 * submission may change them.
 */
import type { Sampling } from '../../rollouts/trajectories/trajectory-episode.js';
import { LLM_FLAGS, type ModelFlags } from '../llm/llm-options.js';

const SETTINGS = ['baseUrl', 'thought', 'concurrency', 'systemRole', 'timeout', 'retries'] as const;
export type RunSettings = Pick<ModelFlags, (typeof SETTINGS)[number]>;

/** Returns the settings among the options of a command. */
export const settingsOf = (flags: ModelFlags): RunSettings =>
  Object.fromEntries(SETTINGS.map((name) => [name, flags[name]]));

/**
 * Describes the settings that have changed, as options: "--timeout 60 instead of 120"; '' if none has.
 * @param before the old RunSettings as JSON. @param now the new RunSettings as JSON.
 */
export function changedSettings(before: string, now: string): string {
  const [old, current] = [before, now].map((text) => JSON.parse(text) as RunSettings);
  return SETTINGS.filter((name) => old[name] !== current[name])
    .map((name) => `${LLM_FLAGS[name]} ${textOf(current[name])} instead of ${textOf(old[name])}`)
    .join(', ');
}

const textOf = (value: string | number | undefined): string => String(value ?? '(the default)');

/** Returns the options with which a worker opens the model. */
export const flagsOf = (settings: RunSettings, sampling: Sampling): ModelFlags => ({
  ...settings,
  maxTokens: sampling.max_tokens,
  temperature: sampling.temperature,
  topP: sampling.top_p,
  samplingSeed: sampling.seed,
});
