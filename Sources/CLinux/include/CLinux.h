#pragma once
/* System calls that the Glibc module leaves out, each under its own name. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

/* The width of the terminal behind a descriptor, 0 when there is none or it does not know:
   ioctl is variadic, which Swift cannot call. */
int window_columns(int descriptor);

/* Its height, the same way. */
int window_lines(int descriptor);

/* Nanoseconds of a clock of clock_gettime(2), 0 when there is no such clock: in one number, since
   which module owns the type of the two depends on what else is compiled. */
int64_t clock_nanoseconds(int clock);

/* Waits on a condition of CLOCK_MONOTONIC with its mutex held, until this reading of the clock in
   nanoseconds at most; 0 when it was signalled. */
int condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until);

/* What was written to a socket and not yet read at its other end, in bytes of the kernel's memory;
   0 for nothing, -1 when the descriptor cannot say. */
int unread_bytes(int descriptor);

/* Gives memory that was freed back to the system, as far as it lies in whole pages. */
void memory_give_back(void);

/* A function of a library that is loaded when it is first asked for, and where its address goes. */
struct late_function {
    const char *name;
    void **place;
};

/* Loads such a library; NULL, or in words why it cannot be used. To be called once for each. */
const char *late_load(const char *file, const struct late_function *functions, int count);
