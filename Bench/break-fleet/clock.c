/* A clock that runs faster than the machine's, for the processes of scripts/break-fleet.
 *
 * Rights of a fleet last a minute and a takeover waits for almost three, so a night in real time takes too
 * long. Loaded with LD_PRELOAD, this shows a process every clock RATE times as fast and makes each of its waits
 * as much shorter. All processes of a life count from the same moment, so their clocks agree:
 * BREAK_CLOCK=RATE:NANOSECONDS, the second one by CLOCK_MONOTONIC when the life began.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static int64_t rate = 1, origin;
static int (*own_cond)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
static int (*own_clock)(clockid_t, struct timespec *);

static int64_t count(struct timespec t) { return t.tv_sec * SECOND + t.tv_nsec; }
static struct timespec parts(int64_t n) {
    return (struct timespec){.tv_sec = n / SECOND, .tv_nsec = n % SECOND};
}

__attribute__((constructor)) static void begin(void) {
    const char *word = getenv("BREAK_CLOCK");
    char *rest = NULL;
    own_cond = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    own_clock = dlsym(RTLD_NEXT, "clock_gettime");
    if (!word) return;
    rate = strtoll(word, &rest, 10);
    if (rate < 1 || *rest != ':') abort();
    origin = strtoll(rest + 1, NULL, 10);
}

static int64_t real(clockid_t clock) {
    struct timespec t;
    if (own_clock) own_clock(clock, &t);
    else syscall(SYS_clock_gettime, clock, &t);
    return count(t);
}

/* How far a shown clock is ahead of the real one. */
static int64_t ahead(void) { return (rate - 1) * (real(CLOCK_MONOTONIC) - origin); }

static int64_t shorter(int64_t span) { return span <= 0 ? span : (span + rate - 1) / rate; }

int clock_gettime(clockid_t clock, struct timespec *t) {
    if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0)
        return (int)syscall(SYS_clock_gettime, clock, t);
    *t = parts(real(clock) + ahead());
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone) {
    (void)zone;
    int64_t n = real(CLOCK_REALTIME) + ahead();
    *t = (struct timeval){.tv_sec = n / SECOND, .tv_usec = n % SECOND / 1000};
    return 0;
}

time_t time(time_t *place) {
    time_t now = (real(CLOCK_REALTIME) + ahead()) / SECOND;
    if (place) *place = now;
    return now;
}

/* The real time of CLOCK_MONOTONIC at which a shown moment is; one of the calendar is told by its size. */
static struct timespec due(const struct timespec *shown) {
    int is_date = shown->tv_sec > 1000000000;
    int64_t now = real(is_date ? CLOCK_REALTIME : CLOCK_MONOTONIC) + ahead();
    return parts(real(CLOCK_MONOTONIC) + shorter(count(*shown) - now));
}

int ppoll(struct pollfd *list, nfds_t n, const struct timespec *span, const sigset_t *mask) {
    struct timespec left;
    if (span) left = parts(shorter(count(*span)));
    return (int)syscall(SYS_ppoll, list, n, span ? &left : NULL, mask, sizeof(uint64_t));
}

int poll(struct pollfd *list, nfds_t n, int milliseconds) {
    struct timespec span = parts(milliseconds * 1000000LL);
    return ppoll(list, n, milliseconds < 0 ? NULL : &span, NULL);
}

int epoll_pwait(int set, struct epoll_event *list, int n, int milliseconds, const sigset_t *mask) {
    return (int)syscall(SYS_epoll_pwait, set, list, n, (int)shorter(milliseconds), mask, sizeof(uint64_t));
}

int epoll_wait(int set, struct epoll_event *list, int n, int milliseconds) {
    return epoll_pwait(set, list, n, milliseconds, NULL);
}

int select(int n, fd_set *in, fd_set *out, fd_set *odd, struct timeval *span) {
    struct timespec left;
    if (span) left = parts(shorter(span->tv_sec * SECOND + span->tv_usec * 1000));
    return (int)syscall(SYS_pselect6, n, in, out, odd, span ? &left : NULL, NULL);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *span, struct timespec *left) {
    struct timespec pause = flags & TIMER_ABSTIME ? due(span) : parts(shorter(count(*span)));
    (void)clock;
    (void)left;
    return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, flags & TIMER_ABSTIME, &pause, NULL) ? errno : 0;
}

int nanosleep(const struct timespec *span, struct timespec *left) {
    int code = clock_nanosleep(CLOCK_MONOTONIC, 0, span, left);
    if (!code) return 0;
    errno = code;
    return -1;
}

int usleep(useconds_t span) {
    struct timespec pause = parts(span * 1000LL);
    return nanosleep(&pause, NULL);
}

unsigned sleep(unsigned seconds) {
    struct timespec pause = parts(seconds * SECOND);
    return nanosleep(&pause, NULL) ? 1 : 0;
}

int pthread_cond_clockwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *shown) {
    struct timespec until = due(shown);
    (void)clock;
    return own_cond(condition, mutex, CLOCK_MONOTONIC, &until);
}

int pthread_cond_timedwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *shown) {
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, shown);
}

static struct timeval briefer(struct timeval t) {
    int64_t n = shorter(t.tv_sec * SECOND + t.tv_usec * 1000);
    if (n > 0 && n < 1000) n = 1000;
    return (struct timeval){.tv_sec = n / SECOND, .tv_usec = n % SECOND / 1000};
}

int setitimer(__itimer_which_t which, const struct itimerval *new, struct itimerval *old) {
    struct itimerval set = {.it_interval = briefer(new->it_interval), .it_value = briefer(new->it_value)};
    return (int)syscall(SYS_setitimer, which, &set, old);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *new, struct itimerspec *old) {
    struct itimerspec set = {.it_interval = parts(shorter(count(new->it_interval)))};
    if (count(new->it_value)) {
        if (flags & TFD_TIMER_ABSTIME) {
            int64_t span = count(due(&new->it_value)) - real(CLOCK_MONOTONIC);
            set.it_value = parts(span < 1 ? 1 : span);
        } else {
            set.it_value = parts(shorter(count(new->it_value)));
        }
    }
    (void)old;
    return (int)syscall(SYS_timerfd_settime, timer, 0, &set, NULL);
}
