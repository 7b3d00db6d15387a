// An executable that defines malloc has all its libraries use that one; glibc exports its own
// under these second names for the purpose.
#define _GNU_SOURCE
#include "CAllocations.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static atomic_bool counting;
static atomic_uint_fast64_t count;
static char wanted[16];
// 0: not looked at yet, 1: counted, 2: not counted.
static _Thread_local int standing __attribute__((tls_model("initial-exec")));

static void note(void) {
    if (!atomic_load_explicit(&counting, memory_order_relaxed)) return;
    if (standing == 0) {
        char name[16] = "";
        pthread_getname_np(pthread_self(), name, sizeof name);
        standing = strncmp(name, wanted, strlen(wanted)) == 0 ? 1 : 2;
    }
    if (standing == 1) atomic_fetch_add(&count, 1);
}

void allocations_begin(const char *prefix) {
    strncpy(wanted, prefix, sizeof wanted - 1);
    atomic_store(&count, 0);
    atomic_store(&counting, true);
}

uint64_t allocations_end(void) {
    atomic_store(&counting, false);
    return atomic_load(&count);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

#ifdef HAS_SANITIZER
bool allocations_are_counted(void) { (void)note; return false; }
#else
bool allocations_are_counted(void) { return true; }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    note();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    note();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    note();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    note();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
#endif
