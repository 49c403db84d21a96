#include "CLinux.h"

#include <time.h>

int window_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int64_t clock_nanoseconds(int clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}
