/** Stored components, gathered by condition and policy, and paired: every policy has played the same seeds. */
import type { StoredCondition } from '../../evaluate/regraded.js';
import { type BeliefKind, policyName } from '../../policies/policies.js';
import { BadRow } from '../../validate/rows.js';
import type { ComponentsRow } from '../components/row.js';

/** Gathers rows: nine float32s of each. */
export class StoredEpisodes {
  readonly #conditions = new Map<string, Gathered>();

  /** @throws BadRow for an episode that is there twice, or out of the order of those of other policies. */
  add(row: ComponentsRow): void {
    let condition = this.#conditions.get(row.condition);
    if (condition === undefined) {
      condition = new Gathered(row.condition);
      this.#conditions.set(row.condition, condition);
    }
    condition.add(row);
  }

  /** In the order in which they came. @throws BadRow if a policy lacks an episode that another has. */
  conditions(): StoredCondition[] {
    return Array.from(this.#conditions.values(), (condition) => condition.stored());
  }
}

interface Column {
  readonly policy: string;
  readonly belief: BeliefKind;
  readonly tape: string | null;
  readonly oracle: boolean;
  readonly components: Floats;
  readonly beliefMae: Floats;
  readonly earlyMeans: Floats;
  readonly lateMeans: Floats;
}

/** The rows of one condition. */
class Gathered {
  readonly #name: string;
  readonly #policies = new Map<string, Column>();
  /** Of the episodes, in the order in which the policy that is furthest has played them. */
  readonly #profiles: string[] = [];
  readonly #seeds: number[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  add({ policy, belief, tape, oracle, profile, seed, ...earned }: ComponentsRow): void {
    const name = policyName({ policy, belief });
    let column = this.#policies.get(name);
    if (column === undefined) {
      column = { policy, belief, tape, oracle, ...emptyColumns() };
      this.#policies.set(name, column);
    }
    this.#pair(name, column.beliefMae.length, profile, seed);
    column.components.push(earned.components);
    column.beliefMae.push([earned.beliefMae]);
    column.earlyMeans.push([earned.earlyMean]);
    column.lateMeans.push([earned.lateMean]);
  }

  /** The same episode in the same place as others, or a new one behind all others. */
  #pair(name: string, place: number, profile: string, seed: number): void {
    if (place === this.#seeds.length) {
      this.#requireNew(profile, seed);
      this.#profiles.push(profile);
      this.#seeds.push(seed);
    } else if (this.#profiles[place] !== profile || this.#seeds[place] !== seed) {
      const expected = episode(this.#profiles[place], this.#seeds[place]);
      this.#refuse(`"${name}" to go on with ${expected}, as another policy does`, episode(profile, seed));
    }
  }

  /** Seeds of a person ascend, so that none is there twice. */
  #requireNew(profile: string, seed: number): void {
    const before = this.#profiles.lastIndexOf(profile);
    if (before < 0 || this.#seeds[before] < seed) return;
    this.#refuse(`ascending seeds of ${profile} persons`, `${seed} after ${this.#seeds[before]}`);
  }

  #refuse(expected: string, got: string): never {
    throw new BadRow(
      `Expected ${expected}, in condition "${this.#name}", got ${got}. Keep the lines that eval --components writes, in their order.`,
    );
  }

  stored(): StoredCondition {
    for (const [name, { beliefMae }] of this.#policies) {
      const { length } = beliefMae;
      if (length === this.#seeds.length) continue;
      const missing = episode(this.#profiles[length], this.#seeds[length]);
      this.#refuse(`"${name}" to have ${missing}, as another policy has`, 'the end of the file');
    }
    return {
      condition: this.#name,
      seeds: `${this.#seeds[0]}-${this.#seeds[this.#seeds.length - 1]}`,
      profiles: this.#profiles.every((each) => each === this.#profiles[0]) ? this.#profiles[0] : 'named',
      policies: Array.from(
        this.#policies.values(),
        ({ components, beliefMae, earlyMeans, lateMeans, ...what }) => ({
          ...what,
          earlyMeans: earlyMeans.values(),
          lateMeans: lateMeans.values(),
          components: components.values(),
          beliefMae: beliefMae.values(),
        }),
      ),
    };
  }
}

const emptyColumns = () => ({
  components: new Floats(),
  beliefMae: new Floats(),
  earlyMeans: new Floats(),
  lateMeans: new Floats(),
});

const episode = (profile: string, seed: number): string => `seed ${seed} (${profile})`;

/** A Float32Array that grows. */
class Floats {
  #values = new Float32Array(64);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(values: ArrayLike<number>): void {
    const length = this.#length + values.length;
    if (length > this.#values.length) {
      const grown = new Float32Array(Math.max(length, 2 * this.#values.length));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.#values.set(values, this.#length);
    this.#length = length;
  }

  values(): Float32Array {
    return this.#values.slice(0, this.#length);
  }
}
