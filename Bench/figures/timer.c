#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int order(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return d < 0 ? -1 : d > 0;
}

/* timer RUNS PROGRAM-A PROGRAM-B: B is run with the argument "version". */
int main(int argc, char **argv) {
    int runs = atoi(argv[1]);
    double *times[2] = {calloc(runs, sizeof(double)), calloc(runs, sizeof(double))};
    for (int run = -2; run < runs; run++) {
        for (int which = 0; which < 2; which++) {
            double start = now();
            pid_t child = fork();
            if (child < 0) return 1;
            if (child == 0) {
                int null = open("/dev/null", O_WRONLY);
                dup2(null, 1);
                execl(argv[2 + which], argv[2 + which], which ? "version" : (char *)0, (char *)0);
                _exit(127);
            }
            int status;
            waitpid(child, &status, 0);
            if (status != 0) return 1;
            if (run >= 0) times[which][run] = now() - start;
        }
    }
    for (int which = 0; which < 2; which++) {
        qsort(times[which], runs, sizeof(double), order);
        printf("%.0f %.0f\n", times[which][0], times[which][runs / 2]);
    }
    return argc != 4;
}
