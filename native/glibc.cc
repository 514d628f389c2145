// Lets an addon with libstdc++ inside, built against a newer glibc, run on glibc 2.28. Only prebuilds for Linux have this file. The
// names below are those that libstdc++ needs and that glibc gave to later versions; here they are defined for the addon alone.
#include <pthread.h>

// The version of these functions in the first glibc for the processor. They are the same functions in all later ones.
#ifdef __x86_64__
#define RHYTHM_FIRST_GLIBC "GLIBC_2.2.5"
#else
#define RHYTHM_FIRST_GLIBC "GLIBC_2.17"
#endif
__asm__(".symver rhythm_pthread_create, pthread_create@" RHYTHM_FIRST_GLIBC);
__asm__(".symver rhythm_pthread_join, pthread_join@" RHYTHM_FIRST_GLIBC);

#define RHYTHM_HIDDEN __attribute__((visibility("hidden")))

extern "C" {

int rhythm_pthread_create(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
int rhythm_pthread_join(pthread_t, void**);

RHYTHM_HIDDEN int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) noexcept {
  return rhythm_pthread_create(thread, attributes, start, argument);
}

RHYTHM_HIDDEN int pthread_join(pthread_t thread, void** result) { return rhythm_pthread_join(thread, result); }

// 0: the process may have several threads, so libstdc++ counts references atomically.
RHYTHM_HIDDEN char __libc_single_threaded = 0;

}  // extern "C"
