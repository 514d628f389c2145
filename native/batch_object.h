// The batch as a JavaScript object: unwraps arguments, checks types and sizes, calls the batch. Contains no rule and no
// number of the world.
#pragma once
#include <napi.h>

#include <memory>
#include <new>
#include <string>
#include <type_traits>

#include "arguments.h"
#include "batch.h"
#include "output_arrays.h"
#include "replay_arguments.h"
#include "reset_arguments.h"
#include "trajectory_arrays.h"

namespace rhythm {

// Returns the kernel of a name, or null if the name is unknown or this processor cannot run the kernel.
inline const Kernel* find_kernel(const std::string& name) {
  for (int k = 0; k < kKernelCount; k++) {
    if (name == kKernels[k].kernel->name) return kKernels[k].supported() ? kKernels[k].kernel : nullptr;
  }
  return nullptr;
}

// Runs work that allocates. Without memory it throws a RangeError in JavaScript, as JavaScript's own arrays do.
template <class Work>
void guarded(Napi::Env env, const Work& work) {
  try {
    work();
  } catch (const std::bad_alloc&) {
    Napi::RangeError::New(env, "Expected memory for native code, got none.").ThrowAsJavaScriptException();
  }
}

class BatchObject : public Napi::ObjectWrap<BatchObject> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "Batch",
                       {Method<&BatchObject::Reset>("reset"), Method<&BatchObject::Step>("step"),
                        Method<&BatchObject::StepEach>("stepEach"), Method<&BatchObject::Run>("run"),
                        Method<&BatchObject::Gather>("gather"), Method<&BatchObject::Save>("save"),
                        Method<&BatchObject::Load>("load"), Method<&BatchObject::Hash>("hash"),
                        Method<&BatchObject::Targets>("targets"), Method<&BatchObject::Replay>("replay"),
                        Method<&BatchObject::Close>("close")});
  }

  // (kernel, block u32, imagination, numEnvs, threads, outputs)
  explicit BatchObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    guarded(info.Env(), [&] { Construct(info); });
  }

  void Finalize(Napi::Env env) override { Free(env); }

 private:
  // Wraps every call from JavaScript in `guarded`.
  template <auto call>
  Napi::Value Guarded(const Napi::CallbackInfo& info) {
    Napi::Value result = info.Env().Undefined();
    guarded(info.Env(), [&] {
      if constexpr (std::is_void_v<decltype((this->*call)(info))>) {
        (this->*call)(info);
      } else {
        result = (this->*call)(info);
      }
    });
    return result;
  }
  template <auto call>
  static Napi::ClassPropertyDescriptor<BatchObject> Method(const char* name) {
    return InstanceMethod<&BatchObject::Guarded<call>>(name);
  }

  void Construct(const Napi::CallbackInfo& info) {
    Arguments args(info);
    const Kernel* kernel = info[0].IsString() ? find_kernel(info[0].As<Napi::String>()) : nullptr;
    if (kernel == nullptr) args.fail<int>("kernel", "the name of a supported kernel");
    const uint32_t* block = args.array<const uint32_t>(1, napi_uint32_array, world::count::BlockWords, "block");
    if (!info[2].IsBoolean()) args.fail<int>("imagination", "a boolean");
    const int num_envs = args.integer(3, 1, world::count::MaxEnvs, "numEnvs");
    const int threads = args.integer(4, 1, world::count::MaxThreads, "threads");
    if (!info[5].IsObject()) args.fail<int>("outputs", "an object");
    if (!args.ok()) return;
    num_envs_ = static_cast<size_t>(num_envs);
    if (!outputs_.read(args, info[5].As<Napi::Object>(), num_envs_)) return;
    // The outputs' getters have run and could have detached the block.
    block = args.array<const uint32_t>(1, napi_uint32_array, world::count::BlockWords, "block");
    if (args.ok() && !legal_block(block)) args.fail<int>("block", "legal codes");
    if (!args.ok()) return;
    batch_ = std::make_unique<Batch>(*kernel, block, info[2].As<Napi::Boolean>(), num_envs, threads);
    // Tells V8 how much memory the object holds, so that it collects it in time.
    Napi::MemoryManagement::AdjustExternalMemory(info.Env(), static_cast<int64_t>(batch_->bytes()));
    info.This().As<Napi::Object>().TypeTag(type_tag());
  }

  void Free(Napi::Env env) {
    if (batch_ == nullptr) return;
    Napi::MemoryManagement::AdjustExternalMemory(env, -static_cast<int64_t>(batch_->bytes()));
    batch_.reset();
  }

  // Marks the objects that this copy of the addon has wrapped. The address is unique to the copy.
  static const napi_type_tag* type_tag() {
    static const napi_type_tag own = {0x52687974686D4261u, reinterpret_cast<uintptr_t>(&own)};
    return &own;
  }

  bool CheckOpen(Arguments& args) {
    if (batch_ == nullptr) args.fail<int>("this", "an open batch");
    return args.ok();
  }

  // Returns the refusal as an object, or null.
  static Napi::Value RefusalObject(Napi::Env env, const std::optional<Refusal>& refusal) {
    if (!refusal) return env.Null();
    const bool illegal = refusal->code == Refusal::Code::IllegalAction;
    auto object = Napi::Object::New(env);
    object.Set("code", illegal ? "illegal_action" : "episode_over");
    object.Set("index", refusal->index);
    if (refusal->step >= 0) object.Set("step", refusal->step);
    if (illegal) object.Set("value", refusal->value);
    return object;
  }

  void Reset(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return;
    ResetArguments arguments;
    const rhythm::Reset reset = arguments.read(args, num_envs_);
    if (args.ok()) batch_->reset(out, reset);
  }

  // (actions u8, beliefs f32|null, given u8|null, mask u8|null, resetMask u8|null, resetSeeds u32|null), or (actions u8)
  // alone: checking each null takes as long as stepping twenty episodes.
  Napi::Value Step(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return info.Env().Undefined();
    rhythm::Step step = {args.array<const uint8_t>(0, napi_uint8_array, num_envs_, "actions"), nullptr, nullptr, nullptr};
    AutoReset autoreset = {nullptr, nullptr};
    if (info.Length() > 1) {
      step.beliefs = args.array_or_null<const float>(1, napi_float32_array, num_envs_ * world::count::Beliefs, "beliefs");
      step.given = args.array_or_null<const uint8_t>(2, napi_uint8_array, num_envs_, "given");
      step.mask = args.array_or_null<const uint8_t>(3, napi_uint8_array, num_envs_, "mask");
      autoreset.mask = args.array_or_null<const uint8_t>(4, napi_uint8_array, num_envs_, "resetMask");
      autoreset.seeds = args.array_or_null<const uint32_t>(5, napi_uint32_array, num_envs_, "resetSeeds");
    }
    if ((step.beliefs == nullptr) != (step.given == nullptr)) args.fail<int>("given", "beliefs and given together");
    if ((autoreset.mask == nullptr) != (autoreset.seeds == nullptr)) {
      args.fail<int>("resetSeeds", "a mask and seeds together");
    }
    if (!args.ok()) return info.Env().Undefined();
    return RefusalObject(info.Env(), batch_->step(out, step, autoreset));
  }

  // (actions u8 [steps, numEnvs], steps): steps all environments `steps` times. For benchmarks of the call overhead.
  Napi::Value StepEach(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return info.Env().Undefined();
    const auto steps = static_cast<size_t>(args.integer(1, 1, world::count::Steps, "steps"));
    const auto* actions = args.array<const uint8_t>(0, napi_uint8_array, steps * num_envs_, "actions");
    if (!args.ok()) return info.Env().Undefined();
    std::optional<Refusal> refusal;
    for (size_t t = 0; t < steps && !refusal; t++) {
      refusal = batch_->step(out, {actions + t * num_envs_, nullptr, nullptr, nullptr}, {nullptr, nullptr});
    }
    return RefusalObject(info.Env(), refusal);
  }

  // (policy, policySeeds u32|null, actions u8|null, constantBelief f32|null, beliefs f32|null, given u8|null,
  //  stops u8|null, trajectory|null, first, end, source Batch|null, indices u32|null)
  Napi::Value Run(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    TrajectoryArrays trajectory;
    if (!info[7].IsNull()) trajectory.read(args, info[7]);
    if (!args.ok() || !CheckOpen(args) || !outputs_.find(args, out)) return info.Env().Undefined();
    const size_t steps = num_envs_ * world::count::Steps;
    rhythm::Run run = {};
    run.policy = static_cast<Policy>(args.integer(0, 0, static_cast<int>(Policy::Sequence), "policy"));
    run.policy_seeds = args.array_or_null<const uint32_t>(1, napi_uint32_array, num_envs_, "policySeeds");
    if (run.policy == Policy::Sequence) run.actions = args.array<const uint8_t>(2, napi_uint8_array, steps, "actions");
    run.constant_belief = args.array_or_null<const float>(3, napi_float32_array, world::count::Beliefs, "constantBelief");
    run.beliefs = args.array_or_null<const float>(4, napi_float32_array, steps * world::count::Beliefs, "beliefs");
    run.given = args.array_or_null<const uint8_t>(5, napi_uint8_array, steps, "given");
    run.stops = args.array_or_null<const uint8_t>(6, napi_uint8_array, num_envs_, "stops");
    if ((run.beliefs == nullptr) != (run.given == nullptr)) args.fail<int>("given", "beliefs and given together");
    for (size_t env_index = 0; args.ok() && run.stops != nullptr && env_index < num_envs_; env_index++) {
      if (run.stops[env_index] > world::count::Steps) args.fail<int>("stops", "no stop after the last step");
    }
    if (!info[7].IsNull()) run.trajectory = trajectory.find(args, steps);
    Part part = {args.integer(8, 0, static_cast<int>(num_envs_) - 1, "first"), 0};
    part.end = args.integer(9, part.first + 1, static_cast<int>(num_envs_), "end");
    if (part.first % kTileLanes != 0) args.fail<int>("first", "a tile's first environment");
    const CopySource from = info[10].IsNull() ? CopySource{} : ReadSource(args, 10, out);
    if (from.batch == batch_.get()) args.fail<int>("source", "another batch");
    if (!args.ok()) return info.Env().Undefined();
    return RefusalObject(info.Env(), batch_->run(out, run, part, from));
  }

  // (source Batch, indices u32)
  void Gather(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return;
    const CopySource from = ReadSource(args, 0, out);
    if (args.ok()) batch_->gather(out, from);
  }

  // Reads arguments `at`, the source, and at + 1, indices u32. `out`: this batch's own outputs, for a copy from itself.
  CopySource ReadSource(Arguments& args, size_t at, const Outputs& out) {
    CopySource from = {};
    BatchObject* source = UnwrapSource(args, args.value(at));
    from.indices = args.array<const uint32_t>(at + 1, napi_uint32_array, num_envs_, "indices");
    for (size_t env_index = 0; args.ok() && env_index < num_envs_; env_index++) {
      if (from.indices[env_index] >= source->num_envs_) args.fail<int>("indices", "environments of the source");
    }
    if (!args.ok()) return from;
    if (source == this) from.outputs = out;
    if (source == this || source->outputs_.find_source(args, from.outputs)) from.batch = source->batch_.get();
    return from;
  }

  static BatchObject* UnwrapSource(Arguments& args, const Napi::Value& value) {
    const bool is_batch = value.IsObject() && value.As<Napi::Object>().CheckTypeTag(type_tag());
    BatchObject* object = is_batch ? Unwrap(value.As<Napi::Object>()) : nullptr;
    if (object == nullptr || object->batch_ == nullptr) return args.fail<BatchObject>("source", "an open batch");
    return object;
  }

  // (words u32, indices u32|null): writes [indices or numEnvs, stateWords].
  void Save(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return;
    size_t length = num_envs_;
    const bool some = !info[1].IsNull();
    if (info[1].IsTypedArray()) length = info[1].As<Napi::TypedArray>().ElementLength();
    const auto* indices = some ? args.array<const uint32_t>(1, napi_uint32_array, length, "indices") : nullptr;
    for (size_t i = 0; args.ok() && some && i < length; i++) {
      if (indices[i] >= num_envs_) args.fail<int>("indices", "environments of the batch");
    }
    auto* words = args.array<uint32_t>(0, napi_uint32_array, length * world::count::StateWords, "words");
    if (args.ok()) batch_->save(words, indices, length);
  }

  void Load(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return;
    const auto* words = args.array<const uint32_t>(0, napi_uint32_array, num_envs_ * world::count::StateWords, "words");
    if (args.ok() && !batch_->load(out, words)) args.fail<int>("words", "legal steps, modes, flags and actions");
  }

  // (hashes u64): writes [numEnvs].
  void Hash(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return;
    auto* hashes = args.array<uint64_t>(0, napi_biguint64_array, num_envs_, "hashes");
    if (args.ok()) batch_->hash(hashes);
  }

  // (targets f32): writes [numEnvs, 3].
  void Targets(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return;
    auto* rows = args.array<float>(0, napi_float32_array, num_envs_ * world::count::Beliefs, "targets");
    if (args.ok()) batch_->targets(rows);
  }

  Napi::Value Replay(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return info.Env().Undefined();
    const rhythm::Replay replay = replay_of(args);
    return args.ok() ? RefusalObject(info.Env(), batch_->replay(replay)) : info.Env().Undefined();
  }

  void Close(const Napi::CallbackInfo& info) {
    Free(info.Env());
    outputs_.release();
  }

  std::unique_ptr<Batch> batch_;
  OutputArrays outputs_;
  size_t num_envs_ = 0;
};

}  // namespace rhythm
