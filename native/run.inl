// Runs environments in one call, from their current steps to the steps at which they stop.
// Included inside a kernel's namespace, see kernel.inl.

// Policies of a run. A call of a policy returns the actions of a step, and computes the step's draws.
struct ChooseRandom {
  U policy_seed;
  ChooseRandom(const Run& run, const Group& g)
      : policy_seed(run.policy_seeds == nullptr ? broadcast(0u) : words_at(run.policy_seeds, g)) {}
  template <class Time, class DrawSource>
  RHYTHM_INLINE_MEMBER U operator()(const Tables& w, Time now, U seed, const EpisodeState&, const DrawSource& source,
                                    Draws& draws) const {
    return random_action(w, seed, now, policy_seed, source, draws);
  }
};

struct ChooseHeuristic {
  ChooseHeuristic(const Run&, const Group&) {}
  template <class Time, class DrawSource>
  RHYTHM_INLINE_MEMBER U operator()(const Tables& w, Time now, U seed, const EpisodeState& episode,
                                    const DrawSource& source, Draws& draws) const {
    draws = source.at(w, seed, now);
    return heuristic_action(w, now, episode.meters);
  }
};

// An action sequence, transposed: lanes[k][i] has the actions of lane i in steps 4k to 4k + 3, a byte each. Codes are below
// kTableWidth, a power of two, so the mask kTableWidth - 1 keeps one code.
struct ChooseSequence {
  static constexpr int words = count::Steps / 4;
  static_assert(count::Steps % 4 == 0 && words > 4 && words <= 8);
  alignas(64) uint32_t lanes[words][kLanes];
  ChooseSequence(const Run& run, const Group& g) {
    const uint8_t* rows = run.actions + static_cast<size_t>(g.first) * count::Steps;
    uint8_t copy[kLanes * count::Steps];
    if (!g.full()) {
      std::memset(copy, 0, sizeof copy);
      std::memcpy(copy, rows, static_cast<size_t>(g.count) * count::Steps);
      rows = copy;
    }
    const auto load_words = [&](int first) __attribute__((always_inline)) {
      U four[4];
      load_four_columns(reinterpret_cast<const uint32_t*>(rows) + first, words, four);
      for (int k = 0; k < 4; k++) store(lanes[first + k], four[k]);
    };
    load_words(0);
    load_words(words - 4);  // may overlap the first four
  }
  template <class DrawSource>
  RHYTHM_INLINE_MEMBER U operator()(const Tables& w, SharedTime now, U seed, const EpisodeState&,
                                    const DrawSource& source, Draws& draws) const {
    draws = source.at(w, seed, now);
    return (load(lanes[now.t / 4]) >> 8 * (now.t % 4)) & broadcast(static_cast<uint32_t>(kTableWidth - 1));
  }
  template <class DrawSource>
  RHYTHM_INLINE_MEMBER U operator()(const Tables& w, LaneTimes now, U seed, const EpisodeState&, const DrawSource& source,
                                    Draws& draws) const {
    draws = source.at(w, seed, now);
    uint32_t t[kLanes];
    store(t, now.t);
    uint32_t actions[kLanes];
    for (int i = 0; i < kLanes; i++) {
      actions[i] = t[i] < count::Steps ? lanes[t[i] / 4][i] >> 8 * (t[i] % 4) & (kTableWidth - 1) : 0;
    }
    return load(actions);
  }
};

// Stores the beliefs of a sequence at step `t` for the active lanes. Returns whether there are any.
RHYTHM_INLINE bool apply_sequence_beliefs(const Tables& w, const Run& run, const Group& g, M active, uint32_t t) {
  uint32_t given[kLanes];
  float beliefs[count::Beliefs][kLanes] = {};
  const uint32_t active_bits = lane_bits(active);
  for (int i = 0; i < kLanes; i++) {
    given[i] = 0;
    if (!(active_bits >> i & 1)) continue;
    const size_t at = static_cast<size_t>(g.first + i) * count::Steps + t;
    given[i] = run.given[at];
    if (given[i] == 0) continue;
    for (int k = 0; k < count::Beliefs; k++) beliefs[k][i] = run.beliefs[at * count::Beliefs + k];
  }
  const M stated = !(load(given) == broadcast(0u));
  if (!any(stated)) return false;
  put_beliefs(g, stated,
              {clean_belief(w, load(beliefs[0])), clean_belief(w, load(beliefs[1])), clean_belief(w, load(beliefs[2]))});
  return true;
}

// Applies rule 9 (belief) for the steps in [from, to) of the lanes that run. Rules 1 to 8 do not depend on beliefs, so a run
// applies rule 9 after its last step.
__attribute__((noinline)) void apply_run_beliefs(const Tables& w, const Run& run, const Group& g, M runs, U from, U to) {
  const bool is_sequence = run.beliefs != nullptr;
  if (run.constant_belief != nullptr) {
    const auto number = [&](int k) { return clean_belief(w, broadcast(run.constant_belief[k])); };
    put_beliefs(g, runs, {number(0), number(1), number(2)});
  }
  const auto find_believing = [&] { return runs & (g.word(state::Given) == broadcast(1u)); };
  M believing = find_believing();
  if (!is_sequence && !any(believing)) return;
  const Beliefs target = targets_of(w, profile_floats(g));
  F term = skill_term(w, beliefs_of(g), target);
  F skill = g.number(state::Skill);
  const uint32_t first_counted = w.u[block::BeliefSkillFrom];
  for (uint32_t t = is_sequence ? 0 : first_counted; t < count::Steps; t++) {
    const M active = (!(broadcast(t) < from)) & (broadcast(t) < to);
    if (is_sequence && apply_sequence_beliefs(w, run, g, runs & active, t)) {
      term = skill_term(w, beliefs_of(g), target);
      believing = find_believing();
    }
    if (t >= first_counted) skill = select(believing & active, skill + term, skill);
  }
  g.put(state::Skill, skill);
}

// The focus in each slot of the day, computed once.
class FocusBySlot {
 public:
  template <class FloatOf>
  FocusBySlot(const Tables& w, FloatOf float_of) {
    for (int slot = 0; slot < count::Slots; slot++) by_slot_[slot] = focus_in(w, slot, float_of);
  }
  template <class Time>
  RHYTHM_INLINE_MEMBER Focus at(Time now) const {
    return by_slot(now, [&](int slot) { return by_slot_[slot]; });
  }

 private:
  Focus by_slot_[count::Slots];
};

// The end of a run: the state, the outputs of the last step, and the sum of the rewards before that step.
struct RunEnd {
  EpisodeState episode;
  LastStep last_step;
  F sum_before;
};

// Runs lanes that all start at the same step and stop at the same step.
template <class Choose, class DrawSource, class Record>
RHYTHM_INLINE RunEnd run_shared_time(const Tables& w, const Group& g, const Choose& choose, const DrawSource& source,
                                   Record& record, int from, int stop) {
  const Profile profile = make_profile(w, profile_floats(g));
  const FocusBySlot focus(w, profile_floats(g));
  const U seed = g.word(state::Seed);
  EpisodeState episode = episode_of(g);
  const auto step_at = [&](SharedTime now) __attribute__((always_inline)) {
    Draws draws;
    const U action = choose(w, now, seed, episode, source, draws);
    const Transition transition = step_episode(w, profile, focus.at(now), now, draws, action, episode);
    add_reward(now, transition.noiseless_reward, episode);
    if constexpr (!Record::kMetersOnly) record_action(g, now, broadcast(true), action);
    record(now, broadcast(true), action, transition, episode.meters);
    return last_step_of(w, transition, action);
  };
  SharedTime now = {from};
  F sum_before = g.number(state::Return);
  // This loop reads only the reward of each result of step_at. The compiler drops most of the other fields.
  for (; now.t < stop - 1; now = next(now)) sum_before = sum_before + step_at(now).reward;
  const LastStep last_step = step_at(now);
  return {episode, last_step, sum_before};
}

// Runs lanes that may each start and stop at different steps.
template <class Choose, class Record>
RHYTHM_INLINE RunEnd run_lane_times(const Tables& w, const Group& g, const Choose& choose, Record& record, U from,
                                  U stop) {
  const Profile profile = make_profile(w, profile_floats(g));
  const FocusBySlot focus(w, profile_floats(g));
  const U seed = g.word(state::Seed);
  LaneTimes now = {from};
  RunEnd end = {episode_of(g), no_last_step(), g.number(state::Return)};
  for (M active = now.t < stop; any(active); active = now.t < stop) {
    Draws draws;
    const U action = choose(w, now, seed, end.episode, LaneDraws{}, draws);
    EpisodeState after = end.episode;
    end.sum_before = select(active, end.sum_before + end.last_step.reward, end.sum_before);
    const Transition transition = step_episode(w, profile, focus.at(now), now, draws, action, after);
    add_reward(now, transition.noiseless_reward, after);
    end.episode = select(active, after, end.episode);
    end.last_step = select(active, last_step_of(w, transition, action), end.last_step);
    record_action(g, now, active, action);
    record(now, active, action, transition, end.episode.meters);
    now.t = select(active, now.t + broadcast(1u), now.t);
  }
  return end;
}

// Copies the environments of a group. Copies their outputs only if some environments will not run: a run writes the outputs
// of those that run. Clears the grades of those that will run without ending their episodes, and all final observations.
__attribute__((noinline)) void copy_envs(const Envs& envs, const Gather& from, const Group& g, U stop) {
  const Origins origins(from, g);
  gather_state(from, g, origins);
  const M runs = g.word(state::Step) < stop;
  if (any((!runs) & g.present())) gather_outputs(envs.out, from.outputs, g, origins);
  clear_grade(envs, g, runs & (stop < broadcast(static_cast<uint32_t>(count::Steps))));
  clear_final(envs, g);
}

// The lanes whose episodes a run has ended, and the terminal term of their last rewards.
struct Ended {
  M lanes;
  F terminal;
};

// Stores the results of lanes `runs`, which ran from step `from` to `time`. Not inlined: the code is long, and a run calls it
// once for each group.
template <class Time>
__attribute__((noinline)) Ended store_results(const Envs& envs, const Run& run, const Group& g, M runs, U from, Time time,
                                              RunEnd end) {
  const U now = steps_of(time);
  put_episode(g, end.episode);
  apply_run_beliefs(*envs.tables, run, g, runs, from, now);
  g.put_where(runs, state::Step, now);
  Ended ended = {runs & (now == broadcast(static_cast<uint32_t>(count::Steps))), broadcast(0.0f)};
  if (any(ended.lanes)) {
    ended.terminal = end_episodes(envs, g, ended.lanes, end.episode, end.sum_before, end.last_step.reward);
  }
  g.put_where(runs, state::Return, end.sum_before + end.last_step.reward);
  put_flags(envs.out.final_mask, g, ended.lanes);
  put_where(envs.out.rewards + g.first, runs, end.last_step.reward);
  observe(envs, g, runs, time, end.episode.meters, end.last_step);
  return ended;
}

// Ends the run of lanes `runs`: stores its results, or with kMetersOnly only the meters and the step.
template <class Record, class Time>
RHYTHM_INLINE void finish_run(const Envs& envs, const Run& run, const Group& g, const Record& record, M runs, U from, Time time,
                              const RunEnd& end) {
  if constexpr (Record::kMetersOnly) {
    put_meters(g, end.episode.meters);
    return g.put_where(runs, state::Step, steps_of(time));
  }
  const Ended ended = store_results(envs, run, g, runs, from, time, end);
  if (any(ended.lanes)) record.add_terminal(ended.lanes, ended.terminal);
}

template <class Choose, class Record>
__attribute__((noinline)) void run_group_lane_times(const Envs& envs, const Run& run, const Group& g, M runs, U stop) {
  if (!any(runs)) return put_flags(envs.out.final_mask, g, runs);
  const Choose choose(run, g);
  Record record(run, g);
  const U from = g.word(state::Step);
  const RunEnd end = run_lane_times(*envs.tables, g, choose, record, from, stop);
  finish_run(envs, run, g, record, runs, from, LaneTimes{select(runs, stop, from)}, end);
}

// Runs a whole group from step `from` to step `stop`.
template <class Choose, class Record, class DrawSource>
RHYTHM_INLINE void run_group_shared_time(const Envs& envs, const Run& run, const Group& g, const DrawSource& source,
                                      int from, int stop) {
  const Choose choose(run, g);
  Record record(run, g);
  const RunEnd end = run_shared_time(*envs.tables, g, choose, source, record, from, stop);
  record.finish(from, stop);
  finish_run(envs, run, g, record, broadcast(true), broadcast(static_cast<uint32_t>(from)), SharedTime{stop}, end);
}

template <class Choose, class Record>
__attribute__((noinline)) void run_group_of_one_seed(const Envs& envs, const Run& run, const Group& g,
                                                     const SharedDraws& source, int from, int stop) {
  run_group_shared_time<Choose, Record>(envs, run, g, source, from, stop);
}

template <class Choose, class Record>
RHYTHM_INLINE void run_group(const Envs& envs, const Run& run, const Group& g, SharedDraws& shared) {
  const U last = broadcast(static_cast<uint32_t>(count::Steps));
  const U stop = select(g.present(), run.stops == nullptr ? last : bytes_at(run.stops, g), broadcast(0u));
  if constexpr (!Record::kMetersOnly) prefetch_outputs(envs, g);
  if (run.copy != nullptr) copy_envs(envs, *run.copy, g, stop);
  const auto all_same = [&](int k) { return !any(!(g.word(k) == broadcast(g.tile->words[k][g.lane]))); };
  const U from = g.word(state::Step);
  const auto t0 = static_cast<int>(g.tile->words[state::Step][g.lane]);
  const int t1 = run.stops == nullptr ? count::Steps : run.stops[g.first];
  const bool shared_time = t0 < t1 && all_same(state::Step) && !any(!(stop == broadcast(static_cast<uint32_t>(t1))));
  if (!shared_time) return run_group_lane_times<Choose, Record>(envs, run, g, from < stop, stop);
  // Every lane has an environment: a lane without one has the stop 0, not t1. So the count is the constant kLanes.
  const Group whole = {g.tile, g.lane, g.first, kLanes};
  if (kLanes > 1 && all_same(state::Seed)) {
    shared.compute(*envs.tables, g.tile->words[state::Seed][g.lane]);
    return run_group_of_one_seed<Choose, Record>(envs, run, whole, shared, t0, t1);
  }
  if constexpr (kDrawsAhead && std::is_same_v<Choose, ChooseSequence>) {
    const DrawsAhead source(*envs.tables, g.word(state::Seed), t0, t1);
    run_group_shared_time<Choose, Record>(envs, run, whole, source, t0, t1);
  } else {
    run_group_shared_time<Choose, Record>(envs, run, whole, LaneDraws{}, t0, t1);
  }
}

template <class Choose, class Record>
void run_all(const Envs& envs, const Run& run, size_t first_tile, size_t last_tile) {
  SharedDraws shared;
  each_group(envs, first_tile, last_tile, /* prefetch_next= */ true,
             [&](const Group& g) { run_group<Choose, Record>(envs, run, g, shared); });
}

// Returns whether a run records anything. Not a member of Trajectory: all kernels would define that one symbol, each for its
// own instruction set.
RHYTHM_INLINE bool records(const Trajectory& t) {
  return t.actions || t.events || t.rewards || t.meters || t.deltas || t.anomalies;
}

template <class Choose>
void run_as(const Envs& envs, const Run& run, size_t first_tile, size_t last_tile) {
  if (!records(run.trajectory)) return run_all<Choose, RecordNothing>(envs, run, first_tile, last_tile);
  run_all<Choose, RecordTrajectory>(envs, run, first_tile, last_tile);
}

void run(const Envs& envs, const Run& run, size_t first_tile, size_t last_tile) {
  switch (run.policy) {
    case Policy::Random:
      return run_as<ChooseRandom>(envs, run, first_tile, last_tile);
    case Policy::Heuristic:
      return run_as<ChooseHeuristic>(envs, run, first_tile, last_tile);
    case Policy::Sequence:
      if (run.meters_only) return run_all<ChooseSequence, KeepMetersOnly>(envs, run, first_tile, last_tile);
      return run_as<ChooseSequence>(envs, run, first_tile, last_tile);
  }
}
