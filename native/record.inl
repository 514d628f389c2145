// Records the steps of a run.
// Included inside a kernel's namespace, see kernel.inl.

// A recorder is called with every step of a group (group.inl). After the last step `finish` is called if all lanes took
// the same steps, and `add_terminal` with the terminal term of the last reward if an episode ended.
struct RecordNothing {
  // Whether the run updates only the meters and the time of the states, and writes no outputs.
  static constexpr bool kMetersOnly = false;
  RecordNothing(const Run&, const Group&) {}
  template <class Time>
  RHYTHM_INLINE_MEMBER void operator()(Time, M, U, const Transition&, const Meters&) const {}
  void finish(int, int) const {}
  void add_terminal(M, F) const {}
};

// Records nothing. Used for runs that update only the meters and the time of the states.
struct KeepMetersOnly : RecordNothing {
  static constexpr bool kMetersOnly = true;
  using RecordNothing::RecordNothing;
};

// Records a trajectory. If all lanes are at the same step, writes columns: in the column-major layout to the arrays, in the
// row-major layout to buffers ("stages"), from which `finish` writes the rows. Otherwise writes each number to the arrays.
class RecordTrajectory {
 public:
  static constexpr bool kMetersOnly = false;
  RHYTHM_INLINE_MEMBER RecordTrajectory(const Run& run, const Group& group) : to_(run.trajectory), g_(group) {}

  RHYTHM_INLINE_MEMBER void operator()(SharedTime now, M, U action, const Transition& transition, const Meters& m) {
    put_codes(to_.actions, actions_, now.t, action);
    put_codes(to_.events, events_, now.t, code_of(transition.event));
    put_floats<1>(to_.rewards, rewards_, now.t, &transition.reward);
    put_meters(to_.meters, meters_, now.t, m);
    put_meters(to_.deltas, deltas_, now.t, transition.delta);
    put_meters(to_.anomalies, anomalies_, now.t, transition.anomaly);
  }

  __attribute__((noinline)) void operator()(LaneTimes now, M active, U action, const Transition& transition,
                                            const Meters& m) const {
    put_where(to_.actions, now, active, action);
    put_where(to_.events, now, active, code_of(transition.event));
    put_where<1>(to_.rewards, now, active, &transition.reward);
    put_meters_where(to_.meters, now, active, m);
    put_meters_where(to_.deltas, now, active, transition.delta);
    put_meters_where(to_.anomalies, now, active, transition.anomaly);
  }

  // In the row-major layout (column stride 0), writes the rows of steps [from, stop).
  __attribute__((noinline)) void finish(int from, int stop) const {
    if (!kStages || to_.column_stride != 0) return;
    finish_codes(to_.actions, actions_, from, stop);
    finish_codes(to_.events, events_, from, stop);
    finish_floats<1>(to_.rewards, rewards_, from, stop);
    finish_floats<count::Meters>(to_.meters, meters_, from, stop);
    finish_floats<count::Meters>(to_.deltas, deltas_, from, stop);
    finish_floats<count::Meters>(to_.anomalies, anomalies_, from, stop);
  }

  void add_terminal(M active, F terminal) const {
    if (to_.rewards == nullptr) return;
    float lanes[kLanes];
    store(lanes, terminal);
    for (int i = 0; i < kLanes; i++) {
      if (lane_bits(active) >> i & 1) to_.rewards[at<1>(i, count::Steps - 1)] += lanes[i];
    }
  }

 private:
  // A column of one lane is one number, and needs no stage.
  static constexpr bool kStages = kLanes > 1;
  static constexpr int kStaged = kStages ? count::Steps : 1;

  // The event's code; -1 for no event.
  static U code_of(U event) {
    return select(event == broadcast(static_cast<uint32_t>(count::Events)), broadcast(0xffu), event);
  }

  // The index of number k of lane i, in an array of `Width` numbers per step.
  template <int Width>
  size_t at(int i, size_t k) const {
    const auto env = static_cast<size_t>(g_.first + i);
    return to_.column_stride == 0 ? env * count::Steps * Width + k : k * to_.column_stride + env;
  }

  // The address of column k of the group, in the array or in its stage.
  template <int Width, class Number>
  RHYTHM_INLINE_MEMBER Number* column(Number* array, Number (*stage)[kLanes], int k) const {
    const auto first = static_cast<size_t>(g_.first);
    if (to_.column_stride != 0) return array + static_cast<size_t>(k) * to_.column_stride + first;
    return kStages ? stage[k] : array + first * count::Steps * Width + k;
  }
  RHYTHM_INLINE_MEMBER void put_codes(int8_t* array, int8_t (*stage)[kLanes], int t, U codes) const {
    if (array != nullptr) store_bytes(reinterpret_cast<uint8_t*>(column<1>(array, stage, t)), codes);
  }
  template <int Width>
  RHYTHM_INLINE_MEMBER void put_floats(float* array, float (*stage)[kLanes], int t, const F* numbers) const {
    if (array == nullptr) return;
    RHYTHM_UNROLL for (int k = 0; k < Width; k++) store(column<Width>(array, stage, Width * t + k), numbers[k]);
  }
  RHYTHM_INLINE_MEMBER void put_meters(float* array, float (*stage)[kLanes], int t, const Meters& m) const {
    const F numbers[] = {m.v, m.c, m.p, m.s, m.n};
    put_floats<count::Meters>(array, stage, t, numbers);
  }

  void put_where(int8_t* array, LaneTimes now, M active, U codes) const {
    if (array == nullptr) return;
    uint32_t t[kLanes], lanes[kLanes];
    store(t, now.t), store(lanes, codes);
    for (int i = 0; i < kLanes; i++) {
      if (lane_bits(active) >> i & 1) array[at<1>(i, t[i])] = static_cast<int8_t>(lanes[i]);
    }
  }
  template <int Width>
  void put_where(float* array, LaneTimes now, M active, const F* numbers) const {
    if (array == nullptr) return;
    uint32_t t[kLanes];
    float lanes[Width][kLanes];
    store(t, now.t);
    for (int k = 0; k < Width; k++) store(lanes[k], numbers[k]);
    for (int i = 0; i < kLanes; i++) {
      if (!(lane_bits(active) >> i & 1)) continue;
      for (int k = 0; k < Width; k++) array[at<Width>(i, Width * t[i] + k)] = lanes[k][i];
    }
  }
  void put_meters_where(float* array, LaneTimes now, M active, const Meters& m) const {
    const F numbers[] = {m.v, m.c, m.p, m.s, m.n};
    put_where<count::Meters>(array, now, active, numbers);
  }

  template <int Width>
  RHYTHM_INLINE_MEMBER void finish_floats(float* array, const float (*stage)[kLanes], int from, int stop) const {
    if (array == nullptr) return;
    put_blocks(stage + Width * from, Width * (stop - from), array + at<Width>(0, Width * from), Width * count::Steps);
  }
  void finish_codes(int8_t* array, const int8_t (*stage)[kLanes], int from, int stop) const {
    if (array == nullptr) return;
    int8_t* rows = array + at<1>(0, 0);
    if (stop - from < count::Steps) {
      for (int i = 0; i < kLanes; i++) {
        for (int t = from; t < stop; t++) rows[i * count::Steps + t] = stage[t][i];
      }
      return;
    }
    // Whole rows: four codes to a word.
    constexpr int words = count::Steps / 4;
    uint32_t lanes[words][kLanes];
    for (int k = 0; k < words; k++) {
      const auto codes = [&](int t) { return load_bytes(reinterpret_cast<const uint8_t*>(stage[4 * k + t])) << 8 * t; };
      store(lanes[k], codes(0) | codes(1) | codes(2) | codes(3));
    }
    for (int i = 0; i < kLanes; i++) {
      for (int k = 0; k < words; k++) std::memcpy(rows + i * count::Steps + 4 * k, &lanes[k][i], sizeof(uint32_t));
    }
  }

  const Trajectory to_;
  const Group g_;
  alignas(64) float rewards_[kStaged][kLanes];
  float meters_[kStaged * count::Meters][kLanes], deltas_[kStaged * count::Meters][kLanes],
      anomalies_[kStaged * count::Meters][kLanes];
  int8_t actions_[kStaged][kLanes], events_[kStaged][kLanes];
};
