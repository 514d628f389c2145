/** Describes a profile in plain words, by trait and by reward weight. */

/** Clauses for the middle of a sentence. */
export interface Phrases {
  /** For a low, a middle and a high value. */
  readonly low: string;
  readonly middle: string;
  readonly high: string;
  /** Why the value is unknown, if it is. */
  readonly unseen: string;
  /** The question that the value answers. */
  readonly about: string;
}

const TRAIT_PHRASES: Readonly<Record<string, Phrases>> = {
  social_vitality_multiplier: {
    low: 'company costs them little energy',
    middle: 'company tires them somewhat',
    high: 'company drains them',
    unseen: 'company is untried',
    about: 'how much company tires them',
  },
  social_serenity_bonus: {
    low: 'company does not calm them',
    middle: 'company calms them a little',
    high: 'company calms them',
    unseen: 'company is untried',
    about: 'whether company calms them',
  },
  morning_focus: {
    low: 'their mornings are dull',
    middle: 'their mornings are ordinary',
    high: 'their mornings are sharp',
    unseen: 'morning work is untried',
    about: 'how sharp their mornings are',
  },
  night_focus: {
    low: 'late work goes badly',
    middle: 'late work goes as usual',
    high: 'late work goes well',
    unseen: 'late work is untried',
    about: 'how late work goes',
  },
  work_vitality_recovery: {
    low: 'work gives them no energy',
    middle: 'work gives them a little energy',
    high: 'work gives them energy',
    unseen: 'work is untried',
    about: 'what work does to their energy',
  },
  progress_serenity_bonus: {
    low: 'work brings them no peace',
    middle: 'work calms them a little',
    high: 'work calms them',
    unseen: 'work is untried',
    about: 'whether work calms them',
  },
  solo_serenity_bonus: {
    low: 'time alone does not calm them',
    middle: 'time alone calms them a little',
    high: 'time alone calms them',
    unseen: 'time alone is untried',
    about: 'whether time alone calms them',
  },
  leisure_guilt: {
    low: 'idling leaves little guilt',
    middle: 'idling leaves some guilt',
    high: 'idling leaves much guilt',
    unseen: 'idling is untried',
    about: 'whether idling leaves guilt',
  },
  stress_threshold: {
    low: 'stress comes late',
    middle: 'stress comes as for most',
    high: 'stress comes early',
    unseen: 'serenity was never low',
    about: 'when stress comes',
  },
  metabolic_rate: {
    low: 'their energy lasts',
    middle: 'their energy fades as for most',
    high: 'their energy fades fast',
    // The rate shows only in the changes of vitality. A change that was clamped at 0 or 1 gives only a bound.
    unseen: 'vitality hid it',
    about: 'how fast their energy fades',
  },
  event_impact: {
    low: 'events hardly touch them',
    middle: 'events touch them as most',
    high: 'events hit them hard',
    unseen: 'no event came',
    about: 'how hard events hit them',
  },
};

/** Returns the phrases of a reward weight, which is named by its meter. */
const weightPhrases = (meter: string): Phrases => ({
  low: `${meter} matters little to them`,
  middle: `${meter} matters to them as to most`,
  high: `${meter} matters much to them`,
  unseen: `the worth of ${meter} shows only in rewards`,
  about: `what ${meter} is worth to them`,
});

/** Returns the phrases of a trait or weight. @param name in TRAIT_NAMES, or in METER_NAMES for a weight. */
export const phrasesOf = (name: string): Phrases => TRAIT_PHRASES[name] ?? weightPhrases(name);
