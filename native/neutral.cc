// Computes the tables of the neutral profile with the same rules as the kernels.
#include "neutral.h"

#include <type_traits>

#include "lanes_scalar.h"

// A separate namespace, because kernel_scalar.cc includes the same source with other compiler options.
namespace rhythm::neutral {

using namespace scalar;
using scalar::broadcast;  // otherwise the `broadcast` of meters.inl would hide it
namespace block = world::block;
namespace count = world::count;
namespace trait = world::trait;

// The rules, compiled for single lanes.
#include "threefry.inl"
#include "meters.inl"
#include "time.inl"
#include "draws.inl"
#include "rules.inl"

namespace {

void build(Tables& tables) {
  // The neutral profile has no reward weights.
  const auto trait_of = [&](int k) { return broadcast(k < count::Traits ? tables.f[block::TraitNeutral + k] : 0.0f); };
  const Profile neutral = make_profile(tables, trait_of);
  for (int slot = 0; slot < count::Slots; slot++) {
    const Focus focus = focus_in(tables, slot, trait_of);
    tables.neutral_focus[slot] = focus.factor.v;
    for (int action = 0; action < count::Actions; action++) {
      const U code = broadcast(static_cast<uint32_t>(action));
      const Meters d = with_traits(neutral, focus, tags_of(tables, code), lookup(tables.effect[slot], code));
      const F response[] = {d.v, d.c, d.p, d.s, d.n};
      for (int meter = 0; meter < count::Meters; meter++) tables.neutral[slot][meter][action] = response[meter].v;
    }
  }
}

}  // namespace
}  // namespace rhythm::neutral

namespace rhythm {

void build_neutral(Tables& tables) { neutral::build(tables); }

}  // namespace rhythm
