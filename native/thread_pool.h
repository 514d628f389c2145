// Threads that wait for ranges of work. A pool belongs to one batch. Calls must not overlap.
#pragma once
#ifdef __wasm__
#include <cstddef>
#include <functional>

namespace rhythm {

// Without threads: the caller does all the work.
class ThreadPool {
 public:
  explicit ThreadPool(int) {}
  void split(size_t size, const std::function<void(size_t, size_t)>& work) { work(0, size); }
};

}  // namespace rhythm
#else
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace rhythm {

class ThreadPool {
 public:
  // `threads` includes the calling thread: with 1, no thread is started. If the system cannot start all of them, the pool works
  // with those that it could start, and does not throw.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls work(begin, end) on contiguous parts of [0, size) that together cover it, and returns when all are done. `work`
  // must not throw.
  void split(size_t size, const std::function<void(size_t, size_t)>& work);

 private:
  // Waits for rounds (calls of `split`) and does part `part` of each, until the pool is destroyed.
  void serve(int part);
  void do_part(int part);

  int parts_;  // the number of threads, including the calling thread
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(size_t, size_t)>* work_ = nullptr;
  size_t size_ = 0;
  unsigned round_ = 0;  // the number of calls of `split`
  int running_ = 0;     // the number of started threads that have not done their part of this round
  bool stopping_ = false;
};

}  // namespace rhythm
#endif
