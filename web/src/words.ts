/** Describes policies and graders in a sentence each. */

/** The end of the sentence about each policy with the suffix `+constant`. */
const CONSTANT = 'and states the belief 0.5 about everybody.';

export const POLICY_WORDS: Readonly<Record<string, string>> = {
  random: 'Acts at random.',
  heuristic: 'Follows a daily schedule, and a few rules for low meters.',
  'open-loop': 'Plays the same 28 actions for everybody, whatever happens.',
  'random+constant': `Acts at random, ${CONSTANT}`,
  'heuristic+constant': `Takes the actions of heuristic, ${CONSTANT}`,
  'open-loop+constant': `Takes the actions of open-loop, ${CONSTANT}`,
  'heuristic+inference': 'Takes the actions of heuristic, and infers who the person is.',
  'open-loop+inference': 'Takes the actions of open-loop, and infers who the person is.',
  'reactive+constant': `Chooses by the step and the meters alone, ${CONSTANT}`,
  planner: 'Infers who the person is, and plans the rest of the week for the highest score.',
  'planner-wellbeing': 'Infers who the person is, and plans a week that is good for the person.',
  'student-v2': 'A small network that imitated the planner, then improved by playing under v2.',
  'student-v3': 'A small network that imitated the planner, then improved by playing under v3.',
  'student-v2-clone': 'A small network that imitates the planner under v2.',
  'student-v3-clone': 'A small network that imitates the planner under v3.',
  'planner-prior': 'Plans for the highest score, but never infers who the person is.',
};

/** Returns the description of a policy. A name without an entry is that of a student trained on the page. */
export const policyWords = (name: string): string =>
  POLICY_WORDS[name] ?? 'A student that was trained in this browser.';

export const GRADER_WORDS: Readonly<Record<string, string>> = {
  v1: 'Pays most for a second half that is better than the first, and nothing for beliefs.',
  v2: 'Pays for the same as v1, and also for a last belief that is close to the truth.',
  v3: 'Pays for a good week, and for accurate beliefs from the third day on.',
};
