#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* measure OUTPUT COMMAND... */
int main(int argc, char **argv) {
    struct timespec a, b;
    struct rusage use;
    int status;
    if (argc < 3) return 64;
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        int file = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(file, 1);
        dup2(file, 2);
        execv(argv[2], argv + 2);
        _exit(127);
    }
    wait4(child, &status, 0, &use);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.3f %.3f %ld\n", b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9,
           use.ru_utime.tv_sec + use.ru_stime.tv_sec +
               (use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6,
           use.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
