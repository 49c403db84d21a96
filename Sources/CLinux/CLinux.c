#include "CLinux.h"

#include <linux/sockios.h>
#include <time.h>

int window_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int window_lines(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

int64_t clock_nanoseconds(int clock) {
    struct timespec time;
    if (clock_gettime(clock, &time) != 0) return 0;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int condition_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until) {
    struct timespec time = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    return pthread_cond_timedwait(condition, mutex, &time);
}

int unread_bytes(int descriptor) {
    int bytes;
    return ioctl(descriptor, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}
