#define _GNU_SOURCE
#include "CLinux.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const int open_path = O_PATH;

int window_columns(int descriptor) {
    struct winsize size;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void memory_give_back(void) { malloc_trim(0); }

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

/* The text is never freed: it is made once for each library. */
static const char *words(const char *format, const char *file, const char *name) {
    int length = snprintf(NULL, 0, format, file, name);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (!text) return "a library cannot be loaded";
    snprintf(text, (size_t)length + 1, format, file, name);
    return text;
}

const char *late_load(const char *file, const struct late_function *functions, int count) {
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        return why ? words("%s%s", why, "") : words("%s cannot be loaded%s", file, "");
    }
    for (int number = 0; number < count; number++) {
        void *address = dlsym(handle, functions[number].name);
        if (!address) return words("%s is too old: it has no %s", file, functions[number].name);
        *functions[number].place = address;
    }
    return NULL;
}
