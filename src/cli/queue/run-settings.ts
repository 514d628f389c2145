/**
 * The settings with which workers run the shards of a language model's job. They are not part of the job: they describe the
 * endpoint.
 */
import type { Sampling } from '../../rollouts/trajectories/trajectory-episode.js';
import { LLM_FLAGS, type ModelFlags } from '../llm/llm-options.js';

export type RunSettings = Pick<ModelFlags, 'baseUrl' | 'thought' | 'concurrency' | 'timeout' | 'retries'>;

/** Returns the settings among the options of a command. */
export const settingsOf = ({ baseUrl, thought, concurrency, timeout, retries }: ModelFlags): RunSettings => ({
  baseUrl,
  thought,
  concurrency,
  timeout,
  retries,
});

/**
 * Describes the settings that have changed, as options: "--timeout 60 instead of 120"; '' if none has.
 * @param before the old RunSettings as JSON. @param now the new RunSettings as JSON.
 */
export function changedSettings(before: string, now: string): string {
  const [old, current] = [before, now].map((text) => JSON.parse(text) as RunSettings);
  const names = Object.keys(settingsOf({})) as (keyof RunSettings)[];
  return names
    .filter((name) => old[name] !== current[name])
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
