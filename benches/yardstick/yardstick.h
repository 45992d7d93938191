/* What the yardstick's two programs share: a clock, pinning, numbers from the command line, and an end
 * with a reason. Included first, because it asks for the GNU interfaces. */
#ifndef YARDSTICK_H
#define YARDSTICK_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A program that has not ended by then hangs: SIGALRM ends it. */
enum { DEADLINE_SECONDS = 120 };

/* Ends the program with what was tried and the error in errno. */
static inline _Noreturn void die(const char *tried)
{
    fprintf(stderr, "yardstick: %s: %s\n", tried, strerror(errno));
    exit(EXIT_FAILURE);
}

/* Ends the program with what is wrong. */
static inline _Noreturn void reject(const char *wrong, const char *value)
{
    fprintf(stderr, "yardstick: %s: %s\n", wrong, value);
    exit(EXIT_FAILURE);
}

/* For pthread functions, which return their error. */
static inline void check_code(int code, const char *tried)
{
    if (code != 0) {
        errno = code;
        die(tried);
    }
}

/* Nanoseconds on CLOCK_MONOTONIC. */
static inline uint64_t now_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        die("clock_gettime");
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Pins the calling thread to one CPU. */
static inline void pin(unsigned cpu)
{
    cpu_set_t set;
    if (cpu >= CPU_SETSIZE)
        reject("no such CPU", "its number is too large");
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    check_code(pthread_setaffinity_np(pthread_self(), sizeof set, &set), "pthread_setaffinity_np");
}

/* Checks that the calling thread is on the CPU that it was pinned to. */
static inline void check_pinned(unsigned cpu)
{
    int at = sched_getcpu();
    if (at < 0)
        die("sched_getcpu");
    if ((unsigned)at != cpu)
        reject("a worker left its CPU", "the kernel moved it");
}

/* A whole number between least and most, or the end. */
static inline uint64_t number(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value < least || value > most)
        reject("not a number within bounds", text);
    return value;
}

/* Prints one batch. */
static inline void print_batch(uint64_t elapsed_ns)
{
    if (printf("%" PRIu64 "\n", elapsed_ns) < 0)
        die("printf");
}

/* Ends the program well, if all that was printed was written. */
static inline int finish(void)
{
    if (fflush(stdout) != 0)
        die("fflush");
    return EXIT_SUCCESS;
}

#endif
