// The rules applied to tiles: reset, step, run, hash. Included inside a kernel's namespace after rules.inl.

namespace state = world::state;
namespace observation = world::observation;
namespace mode = world::mode;

static_assert(kTileLanes % kLanes == 0);

// kLanes neighbouring episodes of a tile.
struct Group {
  Tile* tile;
  int lane;   // of the first, within the tile
  int first;  // its slot
  int count;  // how many of kLanes are slots of the batch

  U word(int k) const { return load(&tile->words[k][lane]); }
  F number(int k) const { return float_bits(word(k)); }
  void put(int k, U x) const { store(&tile->words[k][lane], x); }
  void put(int k, F x) const { put(k, bits(x)); }
  template <class T>
  void put_where(M m, int k, T x) const {
    put(k, select(m, bits_of_word(x), word(k)));
  }
  static U bits_of_word(U x) { return x; }
  static U bits_of_word(F x) { return bits(x); }
  bool full() const { return count == kLanes; }
  M present() const { return lane_numbers() < all(static_cast<uint32_t>(count)); }
};

template <class Visit>
RHYTHM_INLINE void each_group(const Slots& slots, size_t first_tile, size_t last_tile, Visit visit) {
  for (size_t tile = first_tile; tile < last_tile; tile++) {
    for (int lane = 0; lane < kTileLanes; lane += kLanes) {
      const int first = static_cast<int>(tile) * kTileLanes + lane;
      if (first >= slots.count) return;
      const int left = slots.count - first;
      visit(Group{slots.tiles + tile, lane, first, left < kLanes ? left : kLanes});
    }
  }
}

// Arrays of one entry a slot. The last group may be shorter than a register: its missing lanes read 0.
RHYTHM_INLINE U bytes_at(const uint8_t* array, const Group& g) {
  if (g.full()) return load_bytes(array + g.first);
  uint8_t lanes[kTileLanes] = {};
  std::memcpy(lanes, array + g.first, static_cast<size_t>(g.count));
  return load_bytes(lanes);
}
RHYTHM_INLINE U words_at(const uint32_t* array, const Group& g) {
  if (g.full()) return load(array + g.first);
  uint32_t lanes[kTileLanes] = {};
  std::memcpy(lanes, array + g.first, static_cast<size_t>(g.count) * sizeof(uint32_t));
  return load(lanes);
}
RHYTHM_INLINE void put_floats(float* array, const Group& g, F x) {
  if (g.full()) return store(array + g.first, x);
  float lanes[kTileLanes];
  store(lanes, x);
  std::memcpy(array + g.first, lanes, static_cast<size_t>(g.count) * sizeof(float));
}
RHYTHM_INLINE M mask_at(const uint8_t* mask, const Group& g) {
  return mask == nullptr ? g.present() : g.present() & !(bytes_at(mask, g) == all(0u));
}

// Column k of an array of rows of `width` floats a slot.
RHYTHM_INLINE F column_at(const float* rows, int width, int k, const Group& g) {
  float lanes[kTileLanes] = {};
  for (int i = 0; i < g.count; i++) lanes[i] = rows[static_cast<size_t>(g.first + i) * width + k];
  return load(lanes);
}

// Writes the columns as rows of `Width` floats, `stride` floats apart, for the lanes of `who`.
template <int Width>
RHYTHM_INLINE void put_rows(float* rows, size_t stride, uint32_t who, const F* columns) {
  alignas(64) float lanes[Width][kLanes];
  for (int k = 0; k < Width; k++) store(lanes[k], columns[k]);
  for (int i = 0; i < kLanes; i++) {
    if (!(who >> i & 1)) continue;
    for (int k = 0; k < Width; k++) rows[i * stride + k] = lanes[k][i];
  }
}

// The same for all lanes and rows that follow each other, in blocks of kLanes columns. A block that is wider than
// what is left of a row runs into the next row, which then covers it.
template <int Width>
RHYTHM_INLINE void put_whole_rows(float* rows, const F* columns) {
  constexpr int blocks = (Width + kLanes - 1) / kLanes;
  constexpr int rest = Width - (blocks - 1) * kLanes;
  F row[blocks][kLanes];
  RHYTHM_UNROLL for (int b = 0; b < blocks; b++) {
    RHYTHM_UNROLL for (int k = 0; k < kLanes; k++) {
      row[b][k] = b * kLanes + k < Width ? columns[b * kLanes + k] : all(0.0f);
    }
    transpose(row[b]);
  }
  RHYTHM_UNROLL for (int i = 0; i < kLanes; i++) {
    RHYTHM_UNROLL for (int b = 0; b < blocks - 1; b++) store(rows + i * Width + b * kLanes, row[b][i]);
    if (i < kLanes - 1) store(rows + i * Width + Width - rest, row[blocks - 1][i]);
  }
  float last[kLanes];
  store(last, row[blocks - 1][kLanes - 1]);
  std::memcpy(rows + kLanes * Width - rest, last, rest * sizeof(float));
}

RHYTHM_INLINE Life life_of(const Group& g) {
  const int m = state::Meters;
  return {{g.number(m), g.number(m + 1), g.number(m + 2), g.number(m + 3), g.number(m + 4)},
          g.number(state::Early),
          g.number(state::Late),
          g.word(state::Crashes)};
}
RHYTHM_INLINE void put_life(const Group& g, const Life& life) {
  const F meters[] = {life.meters.v, life.meters.c, life.meters.p, life.meters.s, life.meters.n};
  for (int k = 0; k < count::Meters; k++) g.put(state::Meters + k, meters[k]);
  g.put(state::Early, life.early);
  g.put(state::Late, life.late);
  g.put(state::Crashes, life.crashes);
}
RHYTHM_INLINE Beliefs beliefs_of(const Group& g) {
  return {g.number(state::Belief), g.number(state::Belief + 1), g.number(state::Belief + 2)};
}
RHYTHM_INLINE void put_beliefs(const Group& g, M who, const Beliefs& b) {
  g.put_where(who, state::Belief, b.social);
  g.put_where(who, state::Belief + 1, b.morning);
  g.put_where(who, state::Belief + 2, b.work);
  g.put_where(who, state::Given, all(1u));
}
RHYTHM_INLINE Person person_of(const Tables& w, const Group& g) {
  return make_person(w, [&](int k) { return g.number(state::Profile + k); });
}

// ---- what is shown ----

struct Shown {
  F event, last_action, reward;
  Meters delta, anomaly;
};

// As shown: -1 for none.
RHYTHM_INLINE F event_code(U event) {
  return to_float(select(event == all(static_cast<uint32_t>(count::Events)), all(~0u), event));
}

RHYTHM_INLINE void observe(const Slots& slots, const Group& g, M who, U t, const Meters& m, const Shown& shown) {
  const Meters &d = shown.delta, &a = shown.anomaly;
  const U slot = t & all(static_cast<uint32_t>(count::Slots - 1));
  static_assert(count::Slots == 4, "a day is t >> 2");
  const F columns[count::ObservationFloats] = {
      to_float(t), to_float(t >> 2), to_float(slot), all(static_cast<float>(count::Steps)) - to_float(t),
      m.v, m.c, m.p, m.s, m.n, shown.event, shown.last_action, shown.reward,
      d.v, d.c, d.p, d.s, d.n, a.v, a.c, a.p, a.s, a.n};
  constexpr int width = count::ObservationFloats;
  float* rows = slots.out.observations + static_cast<size_t>(g.first) * width;
  if (!any(!who)) return put_whole_rows<width>(rows, columns);
  put_rows<width>(rows, width, bits_of(who), columns);
}

RHYTHM_INLINE void put_grade(const Slots& slots, const Group& g, M who, const Grade& grade, uint8_t terminated) {
  constexpr int width = count::Components;
  const uint32_t lanes = bits_of(who);
  put_rows<width>(slots.out.components + static_cast<size_t>(g.first) * width, width, lanes, grade.components);
  put_rows<1>(slots.out.final_scores + g.first, 1, lanes, &grade.final_score);
  put_rows<1>(slots.out.belief_mae + g.first, 1, lanes, &grade.belief_mae);
  for (int i = 0; i < kLanes; i++) {
    if (lanes >> i & 1) slots.out.terminated[g.first + i] = terminated;
  }
}
RHYTHM_INLINE void show_grade(const Slots& slots, const Group& g, M who, const Grade& grade) {
  put_grade(slots, g, who, grade, 1);
}
RHYTHM_INLINE void hide_grade(const Slots& slots, const Group& g, M who) {
  const F zero = all(0.0f);
  put_grade(slots, g, who, {{zero, zero, zero, zero, zero, zero}, zero, zero}, 0);
}

RHYTHM_INLINE Grade grade_group(const Slots& slots, const Group& g, const Life& life) {
  const Beliefs target = targets_of(*slots.tables, [&](int k) { return g.number(state::Profile + k); });
  const M given = g.word(state::Given) == all(1u);
  return grade_of(*slots.tables, life, beliefs_of(g), given, target,
                  [&](int k) { return g.number(state::Grader + k); });
}

// ---- reset ----

RHYTHM_INLINE void put_profile(const Slots& slots, const Reset& r, const Group& g, M who, U seed) {
  const Tables& w = *slots.tables;
  const U how = g.word(state::Mode);
  const M sampled = who & (how == all(static_cast<uint32_t>(mode::Sampled)));
  const M discrete = who & (how == all(static_cast<uint32_t>(mode::Discrete)));
  const M given = who & (how == all(static_cast<uint32_t>(mode::Given)));
  F profile[count::ProfileFloats];
  const auto put = [&](M lanes) {
    for (int k = 0; k < count::ProfileFloats; k++) g.put_where(lanes, state::Profile + k, profile[k]);
  };
  if (any(sampled)) sample_profile(w, seed, profile), put(sampled);
  if (any(discrete)) discrete_profile(w, seed, profile), put(discrete);
  if (r.profiles != nullptr && any(given)) {
    for (int k = 0; k < count::ProfileFloats; k++) profile[k] = column_at(r.profiles, count::ProfileFloats, k, g);
    put(given);
  }
}

RHYTHM_INLINE void reset_group(const Slots& slots, const Reset& r, const Group& g) {
  const Tables& w = *slots.tables;
  const M who = mask_at(r.mask, g);
  if (!any(who)) return;
  const U seed = words_at(r.seeds, g);
  const Meters initial = all(w.f + block::InitialMeters);
  const F zero = all(0.0f);
  if (r.modes != nullptr) g.put_where(who, state::Mode, bytes_at(r.modes, g));
  put_profile(slots, r, g, who, seed);
  g.put_where(who, state::Seed, seed);
  put_life(g, select(who, Life{initial, zero, zero, all(0u)}, life_of(g)));
  g.put_where(who, state::Step, all(0u));
  g.put_where(who, state::Given, all(0u));
  for (int k = 0; k < count::TapeWords; k++) g.put_where(who, state::Tape + k, all(0u));
  for (int k = 0; k < count::Beliefs; k++) g.put_where(who, state::Belief + k, all(0.5f));
  if (r.graders != nullptr) {
    for (int k = 0; k < count::Components; k++) {
      g.put_where(who, state::Grader + k, column_at(r.graders, count::Components, k, g));
    }
  }
  const F none = zero - all(1.0f);
  const Meters still = {zero, zero, zero, zero, zero};
  observe(slots, g, who, all(0u), initial, {none, none, zero, still, still});
  if (r.keep_results) return;
  put_rows<1>(slots.out.rewards + g.first, 1, bits_of(who), &zero);
  hide_grade(slots, g, who);
}

void reset(const Slots& slots, const Reset& r, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) { reset_group(slots, r, g); });
}

// ---- step ----

RHYTHM_INLINE void note_action(const Group& g, SameTime now, M, U action) {
  const int word = state::Tape + now.t / 8;
  g.put(word, g.word(word) | action << 4 * (now.t % 8));
}
RHYTHM_INLINE void note_action(const Group& g, OwnTime now, M who, U action) {
  const U nibble = shift_left(action, (now.t & all(7u)) << 2);
  for (int k = 0; k < count::TapeWords; k++) {
    const M here = who & ((now.t >> 3) == all(static_cast<uint32_t>(k)));
    g.put_where(here, state::Tape + k, g.word(state::Tape + k) | nibble);
  }
}

RHYTHM_INLINE bool may_end(SameTime now) { return now.t == count::Steps - 1; }
RHYTHM_INLINE bool may_end(OwnTime) { return true; }

RHYTHM_INLINE void take_beliefs(const Step& s, const Group& g, M who) {
  const M given = who & mask_at(s.given, g);
  if (!any(given)) return;
  const auto column = [&](int k) { return clean_belief(column_at(s.beliefs, count::Beliefs, k, g)); };
  put_beliefs(g, given, {column(0), column(1), column(2)});
}

// All lanes step, or with OwnTime those of `who`.
template <class Time>
RHYTHM_INLINE void step_lanes(const Slots& slots, const Step& s, const Group& g, M who, Time now) {
  const Tables& w = *slots.tables;
  const Life before = life_of(g);
  // A slot that does not step may hold any code: keep it inside the tables.
  const U action = bytes_at(s.actions, g) & all(static_cast<uint32_t>(kTableWidth - 1));
  Life life = before;
  const Fate fate = fate_of(w, g.word(state::Seed), now);
  Moment moment = live(w, person_of(w, g), neutral_person(w), now, fate, action, life);
  if constexpr (std::is_same_v<Time, OwnTime>) life = select(who, life, before);
  put_life(g, life);
  note_action(g, now, who, action);
  if (s.given != nullptr) take_beliefs(s, g, who);
  const U t = steps_of(next(now));
  g.put_where(who, state::Step, t);
  if (may_end(now)) {
    const M ended = who & (t == all(static_cast<uint32_t>(count::Steps)));
    if (any(ended)) {
      const Grade grade = grade_group(slots, g, life);
      moment.reward = select(ended, moment.reward + terminal_reward(w, grade.final_score), moment.reward);
      show_grade(slots, g, ended, grade);
    }
  }
  put_floats(slots.out.rewards, g, select(who, moment.reward, all(0.0f)));
  observe(slots, g, who, t, life.meters,
          {event_code(moment.event), to_float(action), moment.reward, moment.delta, moment.anomaly});
}

RHYTHM_INLINE void step_group(const Slots& slots, const Step& s, const Group& g) {
  const M who = mask_at(s.mask, g);
  const U t = g.word(state::Step);
  const uint32_t t0 = g.tile->words[state::Step][g.lane];
  if (!any(!who) && !any(!(t == all(t0)))) {
    step_lanes(slots, s, g, who, SameTime{static_cast<int>(t0)});
  } else if (any(who)) {
    step_lanes(slots, s, g, who, OwnTime{t});
  } else {
    put_floats(slots.out.rewards, g, all(0.0f));
  }
}

void step(const Slots& slots, const Step& s, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) { step_group(slots, s, g); });
}

// ---- run ----

struct ChooseRandom {
  U policy_seed;
  ChooseRandom(const Run& run, const Group& g)
      : policy_seed(run.policy_seeds == nullptr ? all(0u) : words_at(run.policy_seeds, g)) {}
  template <class Time>
  U operator()(const Tables& w, Time now, U seed, const Life&, Fate& fate) const {
    return random_action(w, seed, now, policy_seed, fate);
  }
};

struct ChooseHeuristic {
  ChooseHeuristic(const Run&, const Group&) {}
  template <class Time>
  U operator()(const Tables& w, Time now, U seed, const Life& life, Fate& fate) const {
    fate = fate_of(w, seed, now);
    return heuristic_action(w, now, life.meters);
  }
};

// A tape's bytes, four steps to a word, laid out by lane.
struct ChooseTape {
  static constexpr int words = count::Steps / 4;
  static_assert(count::Steps % 4 == 0);
  uint32_t lanes[words][kLanes];
  ChooseTape(const Run& run, const Group& g) {
    std::memset(lanes, 0, sizeof lanes);
    for (int i = 0; i < g.count; i++) {
      uint32_t row[words];
      std::memcpy(row, run.actions + static_cast<size_t>(g.first + i) * count::Steps, sizeof row);
      for (int k = 0; k < words; k++) lanes[k][i] = row[k];
    }
  }
  U operator()(const Tables& w, SameTime now, U seed, const Life&, Fate& fate) const {
    fate = fate_of(w, seed, now);
    return (load(lanes[now.t / 4]) >> 8 * (now.t % 4)) & all(static_cast<uint32_t>(kTableWidth - 1));
  }
  U operator()(const Tables& w, OwnTime now, U seed, const Life&, Fate& fate) const {
    fate = fate_of(w, seed, now);
    uint32_t t[kLanes];
    store(t, now.t);
    uint32_t actions[kLanes];
    for (int i = 0; i < kLanes; i++) {
      actions[i] = t[i] < count::Steps ? lanes[t[i] / 4][i] >> 8 * (t[i] % 4) & (kTableWidth - 1) : 0;
    }
    return load(actions);
  }
};

struct RecordNothing {
  RecordNothing(const Run&, const Group&) {}
  template <class Time>
  void operator()(Time, M, U, const Moment&, const Meters&) const {}
  void add_terminal(M, F) const {}
};

struct RecordTrajectory {
  const Trajectory& to;
  const Group& g;
  RecordTrajectory(const Run& run, const Group& group) : to(run.trajectory), g(group) {}

  template <class Time>
  void operator()(Time now, M who, U action, const Moment& moment, const Meters& m) const {
    const Meters &d = moment.delta, &a = moment.anomaly;
    const F columns[16] = {moment.reward, m.v, m.c, m.p, m.s, m.n, d.v, d.c, d.p, d.s, d.n, a.v, a.c, a.p, a.s, a.n};
    float rows[16][kLanes];
    for (int k = 0; k < 16; k++) store(rows[k], columns[k]);
    uint32_t t[kLanes], actions[kLanes], events[kLanes];
    store(t, steps_of(now)), store(actions, action), store(events, moment.event);
    const uint32_t lanes = bits_of(who);
    for (int i = 0; i < kLanes; i++) {
      if (!(lanes >> i & 1)) continue;
      const size_t at = static_cast<size_t>(g.first + i) * count::Steps + t[i];
      to.actions[at] = static_cast<int8_t>(actions[i]);
      to.events[at] = events[i] == count::Events ? -1 : static_cast<int8_t>(events[i]);
      to.rewards[at] = rows[0][i];
      for (int k = 0; k < count::Meters; k++) {
        to.meters[at * count::Meters + k] = rows[1 + k][i];
        to.deltas[at * count::Meters + k] = rows[6 + k][i];
        to.anomalies[at * count::Meters + k] = rows[11 + k][i];
      }
    }
  }

  void add_terminal(M who, F terminal) const {
    float lanes[kLanes];
    store(lanes, terminal);
    for (int i = 0; i < kLanes; i++) {
      if (bits_of(who) >> i & 1) to.rewards[static_cast<size_t>(g.first + i) * count::Steps + count::Steps - 1] += lanes[i];
    }
  }
};

// Beliefs change nothing but the grade, so only the last one given in [from, to) of each lane counts.
RHYTHM_INLINE void take_last_beliefs(const Run& run, const Group& g, M who, U from, U to) {
  if (run.constant_belief != nullptr) {
    const float* b = run.constant_belief;
    return put_beliefs(g, who, {clean_belief(all(b[0])), clean_belief(all(b[1])), clean_belief(all(b[2]))});
  }
  if (run.beliefs == nullptr) return;
  uint32_t begin[kLanes], end[kLanes], given[kLanes];
  float last[count::Beliefs][kLanes] = {};
  store(begin, from), store(end, to);
  for (int i = 0; i < kLanes; i++) {
    given[i] = 0;
    if (!(bits_of(who) >> i & 1)) continue;
    const size_t row = static_cast<size_t>(g.first + i) * count::Steps;
    uint32_t t = end[i];
    while (t > begin[i] && run.given[row + t - 1] == 0) t--;
    if (t == begin[i]) continue;
    given[i] = 1;
    for (int k = 0; k < count::Beliefs; k++) last[k][i] = run.beliefs[(row + t - 1) * count::Beliefs + k];
  }
  put_beliefs(g, load(given) == all(1u),
              {clean_belief(load(last[0])), clean_belief(load(last[1])), clean_belief(load(last[2]))});
}

// Every lane goes from the same step to the end.
template <class Choose, class Record>
RHYTHM_INLINE Life run_together(const Tables& w, const Group& g, const Choose& choose, const Record& record, int from) {
  const Person who = person_of(w, g), neutral = neutral_person(w);
  const U seed = g.word(state::Seed);
  Life life = life_of(g);
  for (SameTime now = {from}; now.t < count::Steps; now = next(now)) {
    Fate fate;
    const U action = choose(w, now, seed, life, fate);
    const Moment moment = live(w, who, neutral, now, fate, action, life);
    note_action(g, now, all(true), action);
    record(now, all(true), action, moment, life.meters);
  }
  return life;
}

// Each lane of `runs` goes from its own step to its own stop.
template <class Choose, class Record>
RHYTHM_INLINE Life run_apart(const Tables& w, const Group& g, const Choose& choose, const Record& record, U from,
                             U stop) {
  const Person who = person_of(w, g), neutral = neutral_person(w);
  const U seed = g.word(state::Seed);
  Life life = life_of(g);
  OwnTime now = {from};
  for (M active = now.t < stop; any(active); active = now.t < stop) {
    Fate fate;
    const U action = choose(w, now, seed, life, fate);
    Life after = life;
    const Moment moment = live(w, who, neutral, now, fate, action, after);
    life = select(active, after, life);
    note_action(g, now, active, action);
    record(now, active, action, moment, life.meters);
    now.t = select(active, now.t + all(1u), now.t);
  }
  return life;
}

template <class Choose, class Record>
RHYTHM_INLINE void run_group(const Slots& slots, const Run& run, const Group& g) {
  const U end = all(static_cast<uint32_t>(count::Steps));
  const U from = g.word(state::Step);
  const U stop = select(g.present(), run.stops == nullptr ? end : bytes_at(run.stops, g), all(0u));
  const M runs = from < stop;
  const uint32_t t0 = g.tile->words[state::Step][g.lane];
  const bool together = !any(!(from == all(t0))) && !any(!(stop == end));
  const Choose choose(run, g);
  const Record record(run, g);
  const Life life = together ? run_together(*slots.tables, g, choose, record, static_cast<int>(t0))
                             : run_apart(*slots.tables, g, choose, record, from, stop);
  put_life(g, life);
  take_last_beliefs(run, g, runs, from, stop);
  const U now = select(runs, stop, from);
  g.put(state::Step, now);
  const M ended = g.present() & (now == end);
  if (!any(ended)) return;
  const Grade grade = grade_group(slots, g, life);
  show_grade(slots, g, ended, grade);
  record.add_terminal(ended & runs, terminal_reward(*slots.tables, grade.final_score));
}

template <class Choose, class Record>
void run_all(const Slots& slots, const Run& run, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) { run_group<Choose, Record>(slots, run, g); });
}

template <class Choose>
void run_as(const Slots& slots, const Run& run, size_t first_tile, size_t last_tile) {
  if (run.trajectory.actions == nullptr) return run_all<Choose, RecordNothing>(slots, run, first_tile, last_tile);
  run_all<Choose, RecordTrajectory>(slots, run, first_tile, last_tile);
}

void run(const Slots& slots, const Run& run, size_t first_tile, size_t last_tile) {
  switch (run.policy) {
    case Policy::Random:
      return run_as<ChooseRandom>(slots, run, first_tile, last_tile);
    case Policy::Heuristic:
      return run_as<ChooseHeuristic>(slots, run, first_tile, last_tile);
    case Policy::Tape:
      return run_as<ChooseTape>(slots, run, first_tile, last_tile);
  }
}

// ---- show ----

RHYTHM_INLINE U taped_action(const Group& g, U t) {
  U word = g.word(state::Tape);
  for (int k = 1; k < count::TapeWords; k++) {
    word = select((t >> 3) == all(static_cast<uint32_t>(k)), g.word(state::Tape + k), word);
  }
  return shift_right(word, (t & all(7u)) << 2) & all(static_cast<uint32_t>(kTableWidth - 1));
}

// The last step is no part of the state: it is lived again, from the seed and the tape.
RHYTHM_INLINE Shown last_step(const Tables& w, const Group& g, U steps) {
  const Person who = person_of(w, g), neutral = neutral_person(w);
  const U seed = g.word(state::Seed);
  const F zero = all(0.0f), none = zero - all(1.0f);
  const Meters still = {zero, zero, zero, zero, zero};
  Life life = {all(w.f + block::InitialMeters), zero, zero, all(0u)};
  Shown shown = {none, none, zero, still, still};
  OwnTime now = {all(0u)};
  for (M active = now.t < steps; any(active); active = now.t < steps) {
    const U action = taped_action(g, now.t);
    const Moment moment = live(w, who, neutral, now, fate_of(w, seed, now), action, life);
    shown.event = select(active, event_code(moment.event), shown.event);
    shown.last_action = select(active, to_float(action), shown.last_action);
    shown.reward = select(active, moment.reward, shown.reward);
    shown.delta = select(active, moment.delta, shown.delta);
    shown.anomaly = select(active, moment.anomaly, shown.anomaly);
    now = next(now);
  }
  return shown;
}

RHYTHM_INLINE void show_group(const Slots& slots, const Group& g) {
  const Tables& w = *slots.tables;
  const M who = g.present();
  const U t = select(who, g.word(state::Step), all(0u));
  const Life life = life_of(g);
  Shown shown = last_step(w, g, t);
  const M ended = who & (t == all(static_cast<uint32_t>(count::Steps)));
  hide_grade(slots, g, who);
  if (any(ended)) {
    const Grade grade = grade_group(slots, g, life);
    shown.reward = select(ended, shown.reward + terminal_reward(w, grade.final_score), shown.reward);
    show_grade(slots, g, ended, grade);
  }
  put_rows<1>(slots.out.rewards + g.first, 1, bits_of(who), &shown.reward);
  observe(slots, g, who, t, life.meters, shown);
}

void show(const Slots& slots, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) { show_group(slots, g); });
}

// ---- hash and targets ----

RHYTHM_INLINE Draw hash_of(const Group& g) {
  U words[24] = {g.word(state::Seed), g.word(state::Step)};
  for (int k = 0; k < count::Meters; k++) words[2 + k] = g.word(state::Meters + k);
  for (int k = 0; k < count::ProfileFloats; k++) words[2 + count::Meters + k] = g.word(state::Profile + k);
  words[23] = all(0u);
  static_assert(2 + count::Meters + count::ProfileFloats == 23);
  Draw key = {all(0x52485954u), all(0x484D5653u)};
  for (int pair = 0; pair < 24; pair += 2) key = threefry(key.x0, key.x1, words[pair], words[pair + 1]);
  return key;
}

void hash(const Slots& slots, uint64_t* hashes, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) {
    const Draw key = hash_of(g);
    uint32_t low[kLanes], high[kLanes];
    store(low, key.x0), store(high, key.x1);
    for (int i = 0; i < g.count; i++) hashes[g.first + i] = static_cast<uint64_t>(high[i]) << 32 | low[i];
  });
}

void targets(const Slots& slots, float* rows, size_t first_tile, size_t last_tile) {
  each_group(slots, first_tile, last_tile, [&](const Group& g) {
    const Beliefs t = targets_of(*slots.tables, [&](int k) { return g.number(state::Profile + k); });
    const F columns[count::Beliefs] = {t.social, t.morning, t.work};
    put_rows<count::Beliefs>(rows + static_cast<size_t>(g.first) * count::Beliefs, count::Beliefs,
                             bits_of(g.present()), columns);
  });
}
