// Starts threads, wakes them for a call, and waits until their parts are done.
#include "thread_pool.h"

#include <exception>

namespace rhythm {

ThreadPool::ThreadPool(int threads) {
  try {
    threads_.reserve(static_cast<size_t>(threads - 1));
    for (int part = 1; part < threads; part++) threads_.emplace_back([this, part] { serve(part); });
  } catch (const std::exception&) {
    // The system has no more threads or no memory for one. The calling thread and those started so far do all the work.
    // Rethrowing would destroy the members while the started threads still wait on them.
  }
  parts_ = static_cast<int>(threads_.size()) + 1;
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::split(size_t size, const std::function<void(size_t, size_t)>& work) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    work_ = &work;
    size_ = size;
    running_ = parts_ - 1;
    round_++;
  }
  start_.notify_all();
  do_part(0);
  std::unique_lock<std::mutex> lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
}

void ThreadPool::do_part(int part) {
  const size_t parts = static_cast<size_t>(parts_);
  (*work_)(size_ * static_cast<size_t>(part) / parts, size_ * (static_cast<size_t>(part) + 1) / parts);
}

void ThreadPool::serve(int part) {
  unsigned seen = 0;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || round_ != seen; });
      if (stopping_) return;
      seen = round_;
    }
    do_part(part);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace rhythm
