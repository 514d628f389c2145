/** What policies and graders are, in a sentence each, where they are chosen. */
const CONSTANT = 'and states the belief 0.5 about everybody.';

export const POLICY_WORDS: Readonly<Record<string, string>> = {
  random: 'Acts at random.',
  heuristic: 'Follows a daily schedule, and a few rules for low meters.',
  'open-loop': 'Plays the same 28 actions for everybody, without looking.',
  'random+constant': `Acts at random, ${CONSTANT}`,
  'heuristic+constant': `Plays as heuristic, ${CONSTANT}`,
  'open-loop+constant': `Plays as open-loop, ${CONSTANT}`,
  'heuristic+inference': 'Plays as heuristic, and infers who it is.',
  'open-loop+inference': 'Plays as open-loop, and infers who it is.',
  planner: 'Infers who it is, and plans the rest of the week for the grade.',
  'planner-wellbeing': 'Plans weeks that are good for the person.',
  'student-v2': 'A small network, which imitated the planner and was then refined under v2.',
  'student-v3': 'A small network, which imitated the planner and was then refined under v3.',
  'student-v2-clone': 'A small network that imitates the planner under v2.',
  'student-v3-clone': 'A small network that imitates the planner under v3.',
  'planner-prior': 'Plans without learning who it is.',
};

/** Returns what a policy is. Those without an entry are students that were trained on the page. */
export const policyWords = (name: string): string =>
  POLICY_WORDS[name] ?? 'A student that was trained in this browser.';

export const GRADER_WORDS: Readonly<Record<string, string>> = {
  v1: 'Pays for progress over the week, and nothing for a belief.',
  v2: 'As v1, and pays for a true belief at the end.',
  v3: 'Pays for a good week, and for true beliefs from the third day on.',
};
