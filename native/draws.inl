// The random draws of a step (docs/world.md, Randomness).
// Included inside a kernel's namespace, see kernel.inl.

struct Draws {
  Draw noise, event;
};
template <class Time>
RHYTHM_INLINE Draws draws_of(const Tables& w, U seed, Time now) {
  const Key keys[2] = {make_key(seed, broadcast(w.noise_stream)), make_key(seed, broadcast(w.event_stream))};
  const U t = steps_of(now), zero = broadcast(0u);
  Draw d[2] = {{t, zero}, {t, zero}};
  threefry(keys, d);
  return {d[0], d[1]};
}

// Draws for lanes with different seeds, computed at each step.
struct LaneDraws {
  template <class Time>
  RHYTHM_INLINE_MEMBER Draws at(const Tables& w, U seed, Time now) const {
    return draws_of(w, seed, now);
  }
};

// Draws for lanes with different seeds. The constructor computes them for the steps [from, stop), two steps at once: a draw
// is a chain of dependent operations (threefry.inl), and a processor overlaps four chains better than two. If the number of
// steps is odd, the constructor also computes the draws of step `stop`.
struct DrawsAhead {
  alignas(64) uint32_t words[count::Steps + 1][4][kLanes];  // by step: x0 and x1 of the noise, then of the event
  DrawsAhead(const Tables& w, U seed, int from, int stop) {
    const Key noise = make_key(seed, broadcast(w.noise_stream)), event = make_key(seed, broadcast(w.event_stream));
    const Key keys[4] = {noise, event, noise, event};
    const U zero = broadcast(0u);
    for (int t = from; t < stop; t += 2) {
      const U first = broadcast(static_cast<uint32_t>(t)), second = broadcast(static_cast<uint32_t>(t + 1));
      Draw d[4] = {{first, zero}, {first, zero}, {second, zero}, {second, zero}};
      threefry(keys, d);
      RHYTHM_UNROLL for (int k = 0; k < 4; k++) {
        store(words[t + k / 2][2 * (k % 2)], d[k].x0), store(words[t + k / 2][2 * (k % 2) + 1], d[k].x1);
      }
    }
  }
  RHYTHM_INLINE_MEMBER Draws at(const Tables&, U, SharedTime now) const {
    const auto& step = words[now.t];
    return {{load(step[0]), load(step[1])}, {load(step[2]), load(step[3])}};
  }
};

// Draws for lanes with one seed, such as rollouts from one state. `compute` computes the draws of a whole episode, one step per
// lane, unless it has computed them for this seed: the next kLanes episodes often have the same seed.
struct SharedDraws {
  static constexpr int length = (count::Steps + kLanes - 1) / kLanes * kLanes;
  alignas(64) uint32_t noise0[length], noise1[length], event0[length], event1[length];
  uint32_t seed = 0;
  bool computed = false;
  __attribute__((noinline)) void compute(const Tables& w, uint32_t new_seed) {
    if (computed && seed == new_seed) return;
    seed = new_seed, computed = true;
    for (int t = 0; t < length; t += kLanes) {
      const LaneTimes steps = {broadcast(static_cast<uint32_t>(t)) + lane_numbers()};
      const Draws draws = draws_of(w, broadcast(seed), steps);
      store(noise0 + t, draws.noise.x0), store(noise1 + t, draws.noise.x1);
      store(event0 + t, draws.event.x0), store(event1 + t, draws.event.x1);
    }
  }
  RHYTHM_INLINE_MEMBER Draws at(const Tables&, U, SharedTime now) const {
    return {{broadcast(noise0[now.t]), broadcast(noise1[now.t])}, {broadcast(event0[now.t]), broadcast(event1[now.t])}};
  }
};
