#include "neutral.h"

#include <type_traits>

#include "lanes_scalar.h"

namespace rhythm::scalar {

namespace block = world::block;
namespace count = world::count;
namespace trait = world::trait;

// The text of the rules themselves, on single lanes.
#include "threefry.inl"
#include "meters.inl"
#include "time.inl"
#include "luck.inl"
#include "rules.inl"

namespace {

void build(Tables& tables) {
  // The neutral person has no reward weights, and needs none.
  const auto trait_of = [&](int k) { return all(k < count::Traits ? tables.f[block::TraitNeutral + k] : 0.0f); };
  const Person neutral = make_person(tables, trait_of);
  for (int slot = 0; slot < count::Slots; slot++) {
    const Focus works = focus_in(tables, slot, trait_of);
    tables.neutral_focus[slot] = works.focus.v;
    for (int action = 0; action < count::Actions; action++) {
      const U code = all(static_cast<uint32_t>(action));
      const Meters d = personal(neutral, works, tags_of(tables, code), lookup(tables.effect[slot], code));
      const F known[] = {d.v, d.c, d.p, d.s, d.n};
      for (int meter = 0; meter < count::Meters; meter++) tables.neutral[slot][meter][action] = known[meter].v;
    }
  }
}

}  // namespace
}  // namespace rhythm::scalar

namespace rhythm {

void build_neutral(Tables& tables) { scalar::build(tables); }

}  // namespace rhythm
