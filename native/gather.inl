// Copies states and outputs of environments from another batch.
// Included inside a kernel's namespace, see kernel.inl.

// The environments of the source that the lanes of a group (group.inl) copy.
struct Origins {
  const uint32_t* envs;  // by lane
  M are_first, are_last;  // the lanes that copy the same environment as the first lane, and as the last lane

  Origins(const Gather& from, const Group& g)
      : envs(from.indices + g.first), are_first(broadcast(false)), are_last(broadcast(false)) {
    if (!g.full()) return;
    are_first = load(envs) == broadcast(envs[0]);
    are_last = load(envs) == broadcast(envs[kLanes - 1]);
  }
};

RHYTHM_INLINE void gather_state(const Gather& from, const Group& g, const Origins& origins) {
  const auto words_of = [&](int lane) {
    const uint32_t env = origins.envs[lane];
    return &from.tiles[env / kTileLanes].words[0][env % kTileLanes];
  };
  const uint32_t* first = words_of(0);
  if (!any(!origins.are_first)) {
    for (int k = 0; k < count::StateWords; k++) g.put(k, broadcast(first[k * kTileLanes]));
    return;
  }
  // Two environments, as in a search that plays few sequences of each episode: faster than a gather.
  if (kLanes > 1 && !any((!origins.are_first) & !origins.are_last)) {
    const uint32_t* last = words_of(kLanes - 1);
    for (int k = 0; k < count::StateWords; k++) {
      g.put(k, select(origins.are_first, broadcast(first[k * kTileLanes]), broadcast(last[k * kTileLanes])));
    }
    return;
  }
  uint32_t offsets[kLanes];
  for (int i = 0; i < kLanes; i++) {
    const uint32_t env = origins.envs[i < g.count ? i : 0];
    offsets[i] = env / kTileLanes * (count::StateWords * kTileLanes) + env % kTileLanes;
  }
  const U index = load(offsets);
  for (int k = 0; k < count::StateWords; k++) g.put(k, gather(from.tiles[0].words[k], index));
}

// Copies an array of one element per environment.
template <class T>
RHYTHM_INLINE void copy_elements(T* to, const T* from, const Group& g, const Origins& origins) {
  for (int i = 0; i < g.count; i++) to[g.first + i] = from[origins.envs[i]];
}

// Copies an array of several numbers per environment, each side in its batch's layout: a stride of 0 is row-major.
template <int Width>
RHYTHM_INLINE void copy_numbers(float* to, size_t to_stride, const float* from, size_t from_stride, const Group& g,
                                const Origins& origins) {
  if (to_stride == 0 && from_stride == 0) {
    for (int i = 0; i < g.count; i++) {
      std::memcpy(to + static_cast<size_t>(g.first + i) * Width, from + static_cast<size_t>(origins.envs[i]) * Width,
                  Width * sizeof(float));
    }
    return;
  }
  const size_t to_env = to_stride == 0 ? Width : 1, to_column = to_stride == 0 ? 1 : to_stride;
  const size_t from_env = from_stride == 0 ? Width : 1, from_column = from_stride == 0 ? 1 : from_stride;
  for (int k = 0; k < Width; k++) {
    for (int i = 0; i < g.count; i++) {
      to[static_cast<size_t>(g.first + i) * to_env + k * to_column] =
          from[origins.envs[i] * from_env + k * from_column];
    }
  }
}

RHYTHM_INLINE void gather_outputs(const Outputs& to, const Outputs& from, const Group& g, const Origins& origins) {
  if (to.observations == nullptr) return;
  copy_numbers<count::ObservationFloats>(to.observations, to.column_stride, from.observations, from.column_stride, g,
                                         origins);
  copy_numbers<count::Components>(to.components, to.column_stride, from.components, from.column_stride, g, origins);
  copy_elements(to.rewards, from.rewards, g, origins);
  copy_elements(to.final_scores, from.final_scores, g, origins);
  copy_elements(to.belief_mae, from.belief_mae, g, origins);
  copy_elements(to.first_half_means, from.first_half_means, g, origins);
  copy_elements(to.second_half_means, from.second_half_means, g, origins);
  copy_elements(to.episode_returns, from.episode_returns, g, origins);
  copy_elements(to.episode_lengths, from.episode_lengths, g, origins);
  copy_elements(to.terminated, from.terminated, g, origins);
  put_flags(to.final_mask, g, broadcast(false));  // a copy ends no episode
  if (to.final_observations == nullptr || from.final_observations == nullptr) return;
  copy_numbers<count::ObservationFloats>(to.final_observations, to.column_stride, from.final_observations,
                                         from.column_stride, g, origins);
}

void gather_envs(const Envs& envs, const Gather& from, size_t first_tile, size_t last_tile) {
  each_group(envs, first_tile, last_tile, [&](const Group& g) {
    const Origins origins(from, g);
    gather_state(from, g, origins);
    gather_outputs(envs.out, from.outputs, g, origins);
  });
}
