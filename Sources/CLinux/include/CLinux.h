#pragma once
/* System calls that the Glibc module leaves out, each under its own name. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

/* O_PATH, which the Glibc module leaves out because it is an extension. */
extern const int open_path;

/* The width of the terminal at a descriptor, 0 when there is no terminal or the width is unknown:
   ioctl is variadic, which Swift cannot call. */
int window_columns(int descriptor);

/* The height of the terminal at a descriptor, 0 as above. */
int window_lines(int descriptor);

/* Nanoseconds of a clock of clock_gettime(2), 0 when there is no such clock. A single number,
   because the Swift module of the type timespec depends on which other modules are compiled. */
int64_t clock_nanoseconds(int clock);

/* Waits on a condition of CLOCK_MONOTONIC with its mutex held, at the latest until this time of the
   clock in nanoseconds; returns 0 when it was signalled. */
int condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until);

/* The data that was written to a socket and not yet read at its other end, in bytes of the kernel's
   memory; 0 for none, -1 when the descriptor does not support this. */
int unread_bytes(int descriptor);

/* Returns freed memory to the system, in whole pages. */
void memory_give_back(void);

/* A function of a library that is loaded on first use, and the variable for its address. */
struct late_function {
    const char *name;
    void **place;
};

/* Loads such a library; returns NULL, or the reason for a failure. Call it once for each
   library. */
const char *late_load(const char *file, const struct late_function *functions, int count);
