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
