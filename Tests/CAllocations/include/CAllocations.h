// Counts the allocations of some threads of the process, for tests that promise none.
#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdbool.h>
#include <stdint.h>

// Whether counting works: not under a sanitizer, which has an allocator of its own.
bool allocations_are_counted(void);

// Begins to count, from 0, what threads allocate whose name begins with `prefix`.
void allocations_begin(const char *prefix);

// Ends counting, and gives how many there were.
uint64_t allocations_end(void);

#endif
