/* Calls of poll or select on one ready descriptor of a given number, as a plain C program.
 *
 *     wait poll|select DESCRIPTOR CALLS BATCHES WARM_UP_BATCHES CPU
 *
 * An eventfd that is ready is duplicated to the number and watched with a time of 0. Each call must tell of
 * exactly that descriptor. Prints the elapsed nanoseconds of each batch, one a line. */
#include "yardstick.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/select.h>

static void poll_calls(int descriptor, uint64_t calls)
{
    struct pollfd watched = { .fd = descriptor, .events = POLLIN };

    for (uint64_t i = 0; i < calls; i++) {
        if (poll(&watched, 1, 0) != 1)
            die("poll");
        if (!(watched.revents & POLLIN))
            reject("poll told of another event", "the descriptor can be read");
    }
}

static void select_calls(int descriptor, uint64_t calls)
{
    fd_set watched, told;

    FD_ZERO(&watched);
    FD_SET(descriptor, &watched);
    for (uint64_t i = 0; i < calls; i++) {
        struct timeval no_time = { 0, 0 };
        told = watched;
        if (select(descriptor + 1, &told, NULL, NULL, &no_time) != 1)
            die("select");
        if (!FD_ISSET(descriptor, &told))
            reject("select told of another descriptor", "this one can be read");
    }
}

/* A ready eventfd of that number. */
static int open_ready(int number)
{
    int opened = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
    if (opened < 0)
        die("eventfd");
    int descriptor = fcntl(opened, F_DUPFD_CLOEXEC, number);
    if (descriptor < 0)
        die("fcntl");
    if (descriptor != number)
        reject("the number is in use", "by another descriptor");
    return descriptor;
}

/* Closes what whoever started this left open: it may have the number that is asked for. */
static void close_inherited(void)
{
    closefrom(3);
}

int main(int count, char **words)
{
    if (count != 7)
        reject("expected 6 arguments", "mechanism, descriptor, calls, batches, warm-up batches, CPU");
    int wanted = (int)number(words[2], 3, FD_SETSIZE - 1);
    uint64_t calls = number(words[3], 1, UINT64_C(1) << 40);
    unsigned batches = (unsigned)number(words[4], 1, 1000000);
    unsigned warm_up_batches = (unsigned)number(words[5], 0, 1000000);
    unsigned cpu = (unsigned)number(words[6], 0, CPU_SETSIZE - 1);
    void (*make_calls)(int, uint64_t);

    if (strcmp(words[1], "poll") == 0)
        make_calls = poll_calls;
    else if (strcmp(words[1], "select") == 0)
        make_calls = select_calls;
    else
        reject("no such mechanism", words[1]);
    close_inherited();
    int descriptor = open_ready(wanted);
    alarm(DEADLINE_SECONDS);
    pin(cpu);
    for (unsigned i = 0; i < warm_up_batches + batches; i++) {
        uint64_t begin = now_ns();
        make_calls(descriptor, calls);
        uint64_t elapsed_ns = now_ns() - begin;
        if (i >= warm_up_batches)
            print_batch(elapsed_ns);
    }
    check_pinned(cpu);
    return finish();
}
