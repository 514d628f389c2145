// The batch as a JavaScript object: unwraps arguments, checks types and sizes, calls the batch. Contains neither
// the rules of the world nor its numbers.
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
#include "run_arguments.h"

namespace rhythm {

// Returns the kernel of a name, or null if the name is unknown or this processor cannot run the kernel.
inline const Kernel* find_kernel(const std::string& name) {
  for (int k = 0; k < kKernelCount; k++) {
    if (name == kKernels[k].kernel->name) return kKernels[k].supported() ? kKernels[k].kernel : nullptr;
  }
  return nullptr;
}

// Runs work that allocates. If memory runs out, throws a RangeError in JavaScript, as JavaScript's own arrays do.
template <class Work>
void catch_bad_alloc(Napi::Env env, const Work& work) {
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

  // (kernel, block u32, imagination, numEnvs, threads, outputs). The block holds the numbers of the world.
  explicit BatchObject(const Napi::CallbackInfo& info) : ObjectWrap(info) {
    catch_bad_alloc(info.Env(), [&] { Construct(info); });
  }

  void Finalize(Napi::Env env) override { Free(env); }

 private:
  // Runs a method inside `catch_bad_alloc`.
  template <auto call>
  Napi::Value CatchBadAlloc(const Napi::CallbackInfo& info) {
    Napi::Value result = info.Env().Undefined();
    catch_bad_alloc(info.Env(), [&] {
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
    return InstanceMethod<&BatchObject::CatchBadAlloc<call>>(name);
  }

  void Construct(const Napi::CallbackInfo& info) {
    Arguments args(info);
    const Kernel* kernel = info[0].IsString() ? find_kernel(info[0].As<Napi::String>()) : nullptr;
    if (kernel == nullptr) args.fail<int>("kernel", "the name of a supported kernel");
    const uint32_t* block = args.array<const uint32_t>(1, napi_uint32_array, world::count::BlockWords, "block");
    if (!info[2].IsBoolean()) args.fail<int>("imagination", "a boolean");
    const int num_envs = args.integer(info[3], 1, world::count::MaxEnvs, "numEnvs");
    const int threads = args.integer(info[4], 1, world::count::MaxThreads, "threads");
    if (!info[5].IsObject()) args.fail<int>("outputs", "an object");
    if (!args.ok()) return;
    num_envs_ = static_cast<size_t>(num_envs);
    if (!outputs_.read(args, info[5].As<Napi::Object>(), num_envs_)) return;
    // `outputs_.read` ran getters, which could have detached the block, so the block is checked again.
    block = args.array<const uint32_t>(1, napi_uint32_array, world::count::BlockWords, "block");
    if (args.ok() && !legal_block(block)) args.fail<int>("block", "legal codes");
    if (!args.ok()) return;
    batch_ = std::make_unique<Batch>(*kernel, block, info[2].As<Napi::Boolean>(), num_envs, threads);
    // Reports the batch's memory to V8, so that the garbage collector frees the object in time.
    Napi::MemoryManagement::AdjustExternalMemory(info.Env(), static_cast<int64_t>(batch_->bytes()));
    info.This().As<Napi::Object>().TypeTag(type_tag());
    DefineStep(info, "stepAll", StepAll);
    DefineStep(info, "stepAgain", StepAgain);
  }

  // Gives the object a function. The function keeps the object alive, because it uses this BatchObject.
  void DefineStep(const Napi::CallbackInfo& info, const char* name, napi_callback step) {
    napi_value function = nullptr;
    napi_create_function(info.Env(), name, NAPI_AUTO_LENGTH, step, this, &function);
    const napi_property_descriptor kept = {"batch", nullptr, nullptr, nullptr, nullptr, info.This(), napi_default, nullptr};
    napi_define_properties(info.Env(), function, 1, &kept);
    info.This().As<Napi::Object>().Set(name, Napi::Value(info.Env(), function));
  }

  // (actions u8): steps all environments. A wrapped method is slower, by the time of the step of a few environments. `Step` explains
  // arguments that this function does not take.
  static napi_value StepAll(napi_env env, napi_callback_info info) {
    size_t count = 1;
    napi_value actions = nullptr;
    void* data = nullptr;
    napi_get_cb_info(env, info, &count, &actions, nullptr, &data);
    auto* object = static_cast<BatchObject*>(data);
    const uint8_t* codes = object->batch_ == nullptr ? nullptr : Arguments::bytes_outside(env, actions, object->num_envs_);
    if (codes != nullptr && object->outputs_.find_apart(env, codes, object->num_envs_, object->last_out_)) {
      object->last_codes_ = codes;
      return object->StepLast(env);
    }
    object->last_codes_ = nullptr;
    const Napi::CallbackInfo arguments(env, info);
    return object->CatchBadAlloc<&BatchObject::Step>(arguments);
  }

  // Steps all environments with the arrays of the last `stepAll`, which the caller has kept and found undetached. Returns undefined,
  // and does nothing, if it did not find their memory.
  static napi_value StepAgain(napi_env env, napi_callback_info info) {
    size_t count = 0;
    void* data = nullptr;
    napi_get_cb_info(env, info, &count, nullptr, nullptr, &data);
    auto* object = static_cast<BatchObject*>(data);
    return object->last_codes_ == nullptr || object->batch_ == nullptr ? nullptr : object->StepLast(env);
  }

  napi_value StepLast(napi_env env) {
    Napi::Value refusal;
    catch_bad_alloc(env, [&] {
      refusal = RefusalObject(env, batch_->step(last_out_, {last_codes_, nullptr, nullptr, nullptr}, {nullptr, nullptr}));
    });
    return refusal;
  }

  void Free(Napi::Env env) {
    if (batch_ == nullptr) return;
    Napi::MemoryManagement::AdjustExternalMemory(env, -static_cast<int64_t>(batch_->bytes()));
    batch_.reset();
  }

  // Marks the objects that this copy of the addon has wrapped. The first number is the text "RhythmBa" in ASCII. The second,
  // an address, is unique to the copy.
  static const napi_type_tag* type_tag() {
    static const napi_type_tag tag = {0x52687974686D4261u, reinterpret_cast<uintptr_t>(&tag)};
    return &tag;
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

  // (request), as in ResetArguments.
  void Reset(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    ResetArguments arguments(args, info[0]);
    if (!args.ok() || !CheckOpen(args) || !outputs_.find(args, out)) return;
    const rhythm::Reset reset = arguments.find(num_envs_);
    if (args.ok()) batch_->reset(out, reset);
  }

  // (actions u8, beliefs f32|null, given u8|null, mask u8|null, resetMask u8|null, resetSeeds u32|null). `actions`
  // alone is faster: each check for null is a call of Node-API.
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

  // (actions u8 [steps, numEnvs], steps): steps all environments `steps` times, or up to a refusal. For benchmarks.
  Napi::Value StepEach(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return info.Env().Undefined();
    const auto steps = static_cast<size_t>(args.integer(info[1], 1, world::count::Steps, "steps"));
    const auto* actions = args.array<const uint8_t>(0, napi_uint8_array, steps * num_envs_, "actions");
    if (!args.ok()) return info.Env().Undefined();
    std::optional<Refusal> refusal;
    for (size_t t = 0; t < steps && !refusal; t++) {
      refusal = batch_->step(out, {actions + t * num_envs_, nullptr, nullptr, nullptr}, {nullptr, nullptr});
    }
    return RefusalObject(info.Env(), refusal);
  }

  // The arguments are listed at RunArguments.
  Napi::Value Run(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    const RunArguments arguments(args);
    if (!args.ok() || !CheckOpen(args) || !outputs_.find(args, out)) return info.Env().Undefined();
    const rhythm::Run run = arguments.find_run(num_envs_);
    const Part part = arguments.find_part(num_envs_);
    CopySource from = {};
    if (arguments.has_source()) from = FindSource(args, arguments.source(), arguments.indices(), out);
    if (from.batch == batch_.get()) args.fail<int>("source", "another batch");
    if (!args.ok()) return info.Env().Undefined();
    return RefusalObject(info.Env(), batch_->run(out, run, part, from));
  }

  // (source Batch, indices u32): copies these environments of the source.
  void Gather(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    if (!CheckOpen(args) || !outputs_.find(args, out)) return;
    const CopySource from = FindSource(args, info[0], info[1], out);
    if (args.ok()) batch_->gather(out, from);
  }

  // Finds the environments to copy. `out`: this batch's own outputs, for a copy from itself.
  CopySource FindSource(Arguments& args, const Napi::Value& batch, const Napi::Value& indices, const Outputs& out) {
    CopySource from = {};
    BatchObject* source = UnwrapSource(args, batch);
    from.indices = args.elements<const uint32_t>(indices, napi_uint32_array, num_envs_, "indices");
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

  // (words u32, indices u32|null): writes the states at `indices`, or all, to `words`, [number of states, stateWords].
  void Save(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return;
    size_t length = num_envs_;
    const bool has_indices = !info[1].IsNull();
    if (info[1].IsTypedArray()) length = info[1].As<Napi::TypedArray>().ElementLength();
    const auto* indices = has_indices ? args.array<const uint32_t>(1, napi_uint32_array, length, "indices") : nullptr;
    for (size_t i = 0; args.ok() && has_indices && i < length; i++) {
      if (indices[i] >= num_envs_) args.fail<int>("indices", "environments of the batch");
    }
    auto* words = args.array<uint32_t>(0, napi_uint32_array, length * world::count::StateWords, "words");
    if (args.ok()) batch_->save(words, indices, length);
  }

  // (words u32, keepsOutputs boolean, false by default): loads the states of all environments, as Batch::load.
  void Load(const Napi::CallbackInfo& info) {
    Arguments args(info);
    Outputs out;
    const bool keeps_outputs = info[1].IsBoolean() && info[1].As<Napi::Boolean>();
    if (!CheckOpen(args) || !outputs_.find(args, out)) return;
    const auto* words = args.array<const uint32_t>(0, napi_uint32_array, num_envs_ * world::count::StateWords, "words");
    if (args.ok() && !batch_->load(out, words, keeps_outputs)) args.fail<int>("words", "legal steps, modes, flags and actions");
  }

  // (hashes u64): writes the states' hashes, [numEnvs].
  void Hash(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return;
    auto* hashes = args.array<uint64_t>(0, napi_biguint64_array, num_envs_, "hashes");
    if (args.ok()) batch_->hash(hashes);
  }

  // (targets f32): writes the belief targets, [numEnvs, 3].
  void Targets(const Napi::CallbackInfo& info) {
    Arguments args(info);
    if (!CheckOpen(args)) return;
    auto* rows = args.array<float>(0, napi_float32_array, num_envs_ * world::count::Beliefs, "targets");
    if (args.ok()) batch_->targets(rows);
  }

  // (request), as in replay_of.
  Napi::Value Replay(const Napi::CallbackInfo& info) {
    Arguments args(info);
    const rhythm::Replay replay = replay_of(args, info[0]);
    if (!args.ok() || !CheckOpen(args)) return info.Env().Undefined();
    return RefusalObject(info.Env(), batch_->replay(replay));
  }

  void Close(const Napi::CallbackInfo& info) {
    Free(info.Env());
    outputs_.release();
  }

  std::unique_ptr<Batch> batch_;
  OutputArrays outputs_;
  size_t num_envs_ = 0;
  // The memory of the last `stepAll`; null if it did not find it.
  const uint8_t* last_codes_ = nullptr;
  Outputs last_out_;
};

}  // namespace rhythm
