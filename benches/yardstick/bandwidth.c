/* The bandwidth of a pipe or a Unix stream socket pair, as a plain C program.
 *
 *     bandwidth pipe|unix_stream MESSAGE_BYTES MESSAGES BATCHES WARM_UP_BATCHES WRITER_CPU READER_CPU
 *
 * A forked writer sends as many messages as the reader asks for over a control pipe. The reader's clock
 * starts just before it asks and stops when the last byte has come. Prints the elapsed nanoseconds of
 * each batch, one a line.
 *
 * It counts the bytes and sees to it that none is left over; it does not look at what is in them. */
#include "yardstick.h"

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct plan {
    size_t message_bytes;
    uint64_t messages;
    unsigned batches;
    unsigned warm_up_batches;
    unsigned writer_cpu;
    unsigned reader_cpu;
};

/* A page-aligned buffer, every page of it written once. */
static char *touched_buffer(size_t bytes)
{
    char *buffer = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        die("mmap");
    memset(buffer, 1, bytes);
    return buffer;
}

static void write_all(int out, const char *bytes, size_t left)
{
    while (left > 0) {
        ssize_t written = write(out, bytes, left);
        if (written < 0)
            die("write");
        bytes += written;
        left -= (size_t)written;
    }
}

/* Serves one request after the other until the reader closes the control pipe. */
static void serve_requests(const struct plan *plan, int control, int out)
{
    char *buffer = touched_buffer(plan->message_bytes);
    uint64_t messages;
    ssize_t got;

    pin(plan->writer_cpu);
    while ((got = read(control, &messages, sizeof messages)) == sizeof messages) {
        for (uint64_t i = 0; i < messages; i++)
            write_all(out, buffer, plan->message_bytes);
        check_pinned(plan->writer_cpu);
    }
    if (got != 0)
        die("read the request");
}

/* Asks for the messages of one batch and reads them all. Returns the elapsed nanoseconds. */
static uint64_t time_batch(const struct plan *plan, int control, int in, char *buffer)
{
    uint64_t left = plan->messages * plan->message_bytes;
    uint64_t begin = now_ns();

    if (write(control, &plan->messages, sizeof plan->messages) != sizeof plan->messages)
        die("write the request");
    while (left > 0) {
        size_t wanted = left < plan->message_bytes ? (size_t)left : plan->message_bytes;
        ssize_t got = read(in, buffer, wanted);
        if (got < 0)
            die("read");
        if (got == 0)
            reject("the channel ended", "bytes are missing");
        left -= (uint64_t)got;
    }
    return now_ns() - begin;
}

static void time_batches(const struct plan *plan, int control, int in)
{
    char *buffer = touched_buffer(plan->message_bytes);

    pin(plan->reader_cpu);
    for (unsigned i = 0; i < plan->warm_up_batches + plan->batches; i++) {
        uint64_t elapsed_ns = time_batch(plan, control, in, buffer);
        if (i >= plan->warm_up_batches)
            print_batch(elapsed_ns);
    }
    check_pinned(plan->reader_cpu);
}

/* Lets the writer end, and checks that it ends well and has sent not one byte more. */
static void see_the_end(pid_t writer, int control, int in)
{
    char more;
    int status;

    if (close(control) != 0)
        die("close the control pipe");
    ssize_t got = read(in, &more, 1);
    if (got < 0)
        die("read the end");
    if (got > 0)
        reject("the channel did not end", "more bytes came than were asked for");
    if (waitpid(writer, &status, 0) != writer)
        die("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
        reject("the writer", "did not end well");
}

/* Opens the channel: ends[0] reads, ends[1] writes. */
static void open_channel(const char *mechanism, int ends[2])
{
    if (strcmp(mechanism, "pipe") == 0) {
        if (pipe(ends) != 0)
            die("pipe");
    } else if (strcmp(mechanism, "unix_stream") == 0) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            die("socketpair");
    } else {
        reject("no such mechanism", mechanism);
    }
}

static struct plan read_plan(char **words)
{
    struct plan plan;
    plan.message_bytes = (size_t)number(words[0], 1, 64u << 20);
    plan.messages = number(words[1], 1, UINT64_MAX / plan.message_bytes);
    plan.batches = (unsigned)number(words[2], 1, 1000000);
    plan.warm_up_batches = (unsigned)number(words[3], 0, 1000000);
    plan.writer_cpu = (unsigned)number(words[4], 0, CPU_SETSIZE - 1);
    plan.reader_cpu = (unsigned)number(words[5], 0, CPU_SETSIZE - 1);
    return plan;
}

int main(int count, char **words)
{
    int channel[2], control[2];

    if (count != 8)
        reject("expected 7 arguments", "mechanism, bytes, messages, batches, warm-up batches, writer and reader CPU");
    struct plan plan = read_plan(words + 2);
    open_channel(words[1], channel);
    if (pipe(control) != 0)
        die("pipe");
    alarm(DEADLINE_SECONDS);

    pid_t writer = fork();
    if (writer < 0)
        die("fork");
    if (writer == 0) {
        /* With its own copies of the reader's ends it would never see the reader go. */
        if (close(channel[0]) != 0 || close(control[1]) != 0)
            die("close");
        serve_requests(&plan, control[0], channel[1]);
        _exit(EXIT_SUCCESS);
    }
    if (close(channel[1]) != 0 || close(control[0]) != 0)
        die("close");
    time_batches(&plan, control[1], channel[0]);
    see_the_end(writer, control[1], channel[0]);
    return finish();
}
