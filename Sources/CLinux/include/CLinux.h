#pragma once
/* System calls that the Glibc module leaves out, each under its own name. */
#include <errno.h>
#include <poll.h>
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

/* Nanoseconds of a clock of clock_gettime(2), 0 when there is no such clock: in one number, since
   which module owns the type of the two depends on what else is compiled. */
int64_t clock_nanoseconds(int clock);
