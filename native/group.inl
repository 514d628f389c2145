// Loads and stores neighbouring episodes of a tile (kernel.h) as lanes: their state, and their entries in the caller's arrays.
// Included inside a kernel's namespace, see kernel.inl.

static_assert(kTileLanes % kLanes == 0);

// Lets put_where take words as well as floats.
RHYTHM_INLINE U as_words(U x) { return x; }

// kLanes neighbouring episodes of a tile.
struct Group {
  Tile* tile;
  int lane;   // the first episode's lane in the tile
  int first;  // the first episode's environment in the batch
  int count;  // how many of the kLanes lanes are environments of the batch

  U word(int k) const { return load(&tile->words[k][lane]); }
  F number(int k) const { return as_floats(word(k)); }
  void put(int k, U x) const { store(&tile->words[k][lane], x); }
  void put(int k, F x) const { put(k, as_words(x)); }
  template <class T>
  void put_where(M m, int k, T x) const {
    put(k, select(m, as_words(x), word(k)));
  }
  // Returns whether all lanes are environments of the batch.
  bool full() const { return kLanes == 1 || count == kLanes; }
  // Returns the lanes that are environments of the batch.
  M present() const { return kLanes == 1 ? broadcast(true) : lane_numbers() < broadcast(static_cast<uint32_t>(count)); }
};

// Prefetches memory that will be written, so that it arrives while something else is computed.
RHYTHM_INLINE void prefetch(const void* from, size_t bytes) {
  const char* line = static_cast<const char*>(from);
  for (size_t at = 0; at < bytes; at += 64) __builtin_prefetch(line + at, 1);
}

// The states of more environments than this (over 1.2 MiB) are assumed not to fit into a core's own caches. Chosen by hand.
constexpr int kEnvsInCache = 6144;

// The bytes of a tile that a step or a run may read. The later words record how the episode began.
constexpr size_t kStepBytes = sizeof(Tile::words[0]) * state::Began;
static_assert(state::Began + 1 + count::Meters == count::StateWords);

// How many tiles ahead to prefetch: a kernel with a group per tile takes so little time for it that one is too late.
constexpr size_t kTilesAhead = kLanes == kTileLanes ? 2 : 1;

// Visits groups in order. With `prefetch_next`, prefetches the tile that is kTilesAhead further. A short `visit` should be always_inline: a call per
// group costs as much as a few rules.
template <class Visit>
RHYTHM_INLINE void each_group(const Envs& envs, size_t first_tile, size_t last_tile, bool prefetch_next, const Visit& visit) {
  for (size_t tile = first_tile; tile < last_tile; tile++) {
    if (prefetch_next && tile + kTilesAhead < last_tile) prefetch(&envs.tiles[tile + kTilesAhead], kStepBytes);
    for (int lane = 0; lane < kTileLanes; lane += kLanes) {
      const int first = static_cast<int>(tile) * kTileLanes + lane;
      if (first >= envs.count) return;
      const int left = envs.count - first;
      visit(Group{envs.tiles + tile, lane, first, left < kLanes ? left : kLanes});
    }
  }
}
template <class Visit>
RHYTHM_INLINE void each_group(const Envs& envs, size_t first_tile, size_t last_tile, const Visit& visit) {
  each_group(envs, first_tile, last_tile, envs.count > kEnvsInCache, visit);
}

// Loads from arrays of one entry per environment. The last group may be shorter than a register: its missing lanes read 0.
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
// Stores one float per environment.
RHYTHM_INLINE void put_floats(float* array, const Group& g, F x) {
  if (g.full()) return store(array + g.first, x);
  float lanes[kTileLanes];
  store(lanes, x);
  std::memcpy(array + g.first, lanes, static_cast<size_t>(g.count) * sizeof(float));
}
// Returns the lanes whose environments exist and are set in the mask; a null mask sets all.
RHYTHM_INLINE M mask_at(const uint8_t* mask, const Group& g) {
  return mask == nullptr ? g.present() : g.present() & !(bytes_at(mask, g) == broadcast(0u));
}

// Stores one byte per environment: 1 if the flag is set, else 0.
RHYTHM_INLINE void put_flags(uint8_t* array, const Group& g, M flags) {
  uint8_t lanes[kLanes] = {};
  if (!any(!flags)) {
    std::memset(lanes, 1, kLanes);
  } else if (any(flags)) {
    const uint32_t bits = lane_bits(flags);
    for (int i = 0; i < kLanes; i++) lanes[i] = bits >> i & 1;
  }
  if (g.full()) {
    std::memcpy(array + g.first, lanes, kLanes);
  } else {
    for (int i = 0; i < g.count; i++) array[g.first + i] = lanes[i];
  }
}

// Loads column k of an array with a row of `width` floats per environment.
RHYTHM_INLINE F column_at(const float* rows, int width, int k, const Group& g) {
  float lanes[kTileLanes] = {};
  for (int i = 0; i < g.count; i++) lanes[i] = rows[static_cast<size_t>(g.first + i) * width + k];
  return load(lanes);
}

// Writes the columns as rows of `Width` floats, for the active lanes.
template <int Width>
RHYTHM_INLINE void put_rows(float* rows, M active, const F* columns) {
  const uint32_t active_bits = lane_bits(active);
  alignas(64) float lanes[Width][kLanes];
  for (int k = 0; k < Width; k++) store(lanes[k], columns[k]);
  for (int i = 0; i < kLanes; i++) {
    if (!(active_bits >> i & 1)) continue;
    for (int k = 0; k < Width; k++) rows[i * Width + k] = lanes[k][i];
  }
}

// Stores one number per environment, for the active lanes.
template <class Lanes, class Number>
RHYTHM_INLINE void put_where(Number* array, M active, Lanes x) {
  if (!any(!active)) return store(array, x);
  const uint32_t active_bits = lane_bits(active);
  Number lanes[kLanes];
  store(lanes, x);
  for (int i = 0; i < kLanes; i++) {
    if (active_bits >> i & 1) array[i] = lanes[i];
  }
}

// Writes `Width` columns, `stride` floats apart, for the active lanes.
template <int Width>
RHYTHM_INLINE void put_columns(float* column, size_t stride, M active, const F* columns) {
  if (!any(!active)) {
    RHYTHM_UNROLL for (int k = 0; k < Width; k++) store(column + k * stride, columns[k]);
    return;
  }
  for (int k = 0; k < Width; k++) put_where(column + k * stride, active, columns[k]);
}

// Transposes `width` columns in blocks of kLanes or kNarrowBlock columns: rows[lane * stride + k] = columns[k][lane]. If fewer
// than kNarrowBlock columns remain, a last block overlaps the one before. Fewer than kNarrowBlock columns in all are copied
// number by number.
RHYTHM_INLINE void put_blocks(const float (*columns)[kLanes], int width, float* rows, size_t stride) {
  int at = 0;
  for (; width - at >= kLanes; at += kLanes) put_block<kLanes>(columns + at, rows + at, stride);
  for (; width - at >= kNarrowBlock; at += kNarrowBlock) put_block<kNarrowBlock>(columns + at, rows + at, stride);
  if (at == width) return;
  if (width >= kNarrowBlock) {
    return put_block<kNarrowBlock>(columns + width - kNarrowBlock, rows + width - kNarrowBlock, stride);
  }
  for (int i = 0; i < kLanes; i++) {
    for (int k = 0; k < width; k++) rows[i * stride + k] = columns[k][i];
  }
}
// Does the same as put_rows with all lanes active, faster.
template <int Width>
RHYTHM_INLINE void put_whole_rows(float* rows, const F* columns) {
  if constexpr (kLanes == 1) {
    RHYTHM_UNROLL for (int k = 0; k < Width; k++) store(rows + k, columns[k]);
    return;
  }
  if (put_lines<Width>(rows, columns)) return;
  alignas(64) float lanes[Width][kLanes];
  RHYTHM_UNROLL for (int k = 0; k < Width; k++) store(lanes[k], columns[k]);
  put_blocks(lanes, Width, rows, Width);
}

RHYTHM_INLINE EpisodeState episode_of(const Group& g) {
  const int m = state::Meters;
  return {{g.number(m), g.number(m + 1), g.number(m + 2), g.number(m + 3), g.number(m + 4)},
          g.number(state::Early),
          g.number(state::Late),
          g.number(state::Well),
          g.word(state::Crashes)};
}
RHYTHM_INLINE void put_meters(const Group& g, const Meters& m) {
  const F meters[] = {m.v, m.c, m.p, m.s, m.n};
  for (int k = 0; k < count::Meters; k++) g.put(state::Meters + k, meters[k]);
}
// Stores an episode's state, except the sums of rewards.
RHYTHM_INLINE void put_meters_and_counts(const Group& g, const EpisodeState& episode) {
  put_meters(g, episode.meters);
  g.put(state::Crashes, episode.crashes);
  g.put(state::Well, episode.well);
}
RHYTHM_INLINE void put_episode(const Group& g, const EpisodeState& episode) {
  put_meters_and_counts(g, episode);
  g.put(state::Early, episode.early);
  g.put(state::Late, episode.late);
}
RHYTHM_INLINE Beliefs beliefs_of(const Group& g) {
  return {g.number(state::Belief), g.number(state::Belief + 1), g.number(state::Belief + 2)};
}
RHYTHM_INLINE void put_beliefs(const Group& g, M active, const Beliefs& b) {
  g.put_where(active, state::Belief, b.social);
  g.put_where(active, state::Belief + 1, b.morning);
  g.put_where(active, state::Belief + 2, b.work);
  g.put_where(active, state::Given, broadcast(1u));
}
// Returns a function of k that returns the k-th float of each episode's profile.
RHYTHM_INLINE auto profile_floats(const Group& g) {
  return [&g](int k) { return g.number(state::Profile + k); };
}
