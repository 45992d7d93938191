/* Two threads that log into one file, as a plain C program.
 *
 *     log direct_write LINE_BYTES LINES BATCHES WARM_UP_BATCHES CPU CPU
 *
 * Each line is built on the stack with its thread and its number and written by one write(2) to one descriptor. The
 * file has no name, lies in the folder for temporary files and is emptied after each batch; its length is checked. Prints
 * the elapsed nanoseconds of each batch, from the first thread's begin to the last one's end, one a line. */
#include "yardstick.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { THREADS = 2, LEAST_LINE_BYTES = 72, MOST_LINE_BYTES = 1024, DIGITS = 10, END_BYTES = 14, LETTERS = 26 };

static char letters[MOST_LINE_BYTES + LETTERS];

/* What the threads share. */
struct batches {
    int file;
    size_t line_bytes;
    uint64_t lines;
    unsigned count;
    pthread_barrier_t turn;
};

struct logger {
    struct batches *batches;
    unsigned thread;
    unsigned cpu;
    pthread_t id;
    uint64_t begin_ns;
    uint64_t end_ns;
};

static void put_digits(char *room, unsigned digits, uint64_t value)
{
    while (digits > 0) {
        room[--digits] = (char)('0' + value % 10);
        value /= 10;
    }
}

/* TT NNNNNNNNNN letters NNNNNNNNNN TT */
static void build(char *line, size_t bytes, unsigned thread, uint64_t value)
{
    char digits[DIGITS];
    char *tail = line + bytes - 1 - END_BYTES;

    put_digits(digits, DIGITS, value);
    put_digits(line, 2, thread);
    line[2] = ' ';
    memcpy(line + 3, digits, DIGITS);
    line[13] = ' ';
    memcpy(line + END_BYTES, letters + (value + 7 * thread) % LETTERS, (size_t)(tail - line) - END_BYTES);
    tail[0] = ' ';
    memcpy(tail + 1, digits, DIGITS);
    tail[11] = ' ';
    put_digits(tail + 12, 2, thread);
    line[bytes - 1] = '\n';
}

static void write_lines(const struct logger *logger, uint64_t first)
{
    const struct batches *batches = logger->batches;
    char line[MOST_LINE_BYTES];

    for (uint64_t i = first; i < first + batches->lines; i++) {
        build(line, batches->line_bytes, logger->thread, i);
        ssize_t written = write(batches->file, line, batches->line_bytes);
        if (written < 0)
            die("write");
        if ((size_t)written != batches->line_bytes)
            reject("a line", "was written in part");
    }
}

/* All threads meet before the clock is read, and again when each is done. */
static void meet(struct batches *batches)
{
    int code = pthread_barrier_wait(&batches->turn);
    if (code != PTHREAD_BARRIER_SERIAL_THREAD)
        check_code(code, "pthread_barrier_wait");
}

static void *log_batches(void *argument)
{
    struct logger *logger = argument;

    pin(logger->cpu);
    for (unsigned i = 0; i < logger->batches->count; i++) {
        meet(logger->batches);
        logger->begin_ns = now_ns();
        write_lines(logger, i * logger->batches->lines);
        logger->end_ns = now_ns();
        meet(logger->batches);
    }
    check_pinned(logger->cpu);
    return NULL;
}

static int open_file(void)
{
    const char *folder = getenv("TMPDIR");
    int file = open(folder != NULL && *folder != '\0' ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0)
        die("open a file without a name");
    return file;
}

/* Every byte must be there; then the file is emptied. */
static void check_and_empty(const struct batches *batches)
{
    struct stat found;
    if (fstat(batches->file, &found) != 0)
        die("fstat");
    if ((uint64_t)found.st_size != THREADS * batches->lines * batches->line_bytes)
        reject("the file", "has not the length of all lines");
    if (ftruncate(batches->file, 0) != 0)
        die("ftruncate");
    if (lseek(batches->file, 0, SEEK_SET) != 0)
        die("lseek");
}

static uint64_t elapsed_ns(const struct logger *loggers)
{
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        begin_ns = loggers[i].begin_ns < begin_ns ? loggers[i].begin_ns : begin_ns;
        end_ns = loggers[i].end_ns > end_ns ? loggers[i].end_ns : end_ns;
    }
    return end_ns - begin_ns;
}

int main(int count, char **words)
{
    if (count != 6 + THREADS || strcmp(words[1], "direct_write") != 0)
        reject("expected", "direct_write, bytes of a line, lines, batches, warm-up batches, 2 CPUs");
    unsigned warm_up_batches = (unsigned)number(words[5], 0, 1000000);
    struct batches batches = {
        .file = open_file(),
        .line_bytes = (size_t)number(words[2], LEAST_LINE_BYTES, MOST_LINE_BYTES),
        .lines = number(words[3], 1, UINT64_C(1) << 40),
        .count = (unsigned)number(words[4], 1, 1000000) + warm_up_batches,
    };
    struct logger loggers[THREADS];

    alarm(DEADLINE_SECONDS);
    for (size_t i = 0; i < sizeof letters; i++)
        letters[i] = (char)('a' + i % LETTERS);
    check_code(pthread_barrier_init(&batches.turn, NULL, THREADS + 1), "pthread_barrier_init");
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned cpu = (unsigned)number(words[6 + i], 0, CPU_SETSIZE - 1);
        loggers[i] = (struct logger){ .batches = &batches, .thread = i, .cpu = cpu };
        check_code(pthread_create(&loggers[i].id, NULL, log_batches, &loggers[i]), "pthread_create");
    }
    for (unsigned i = 0; i < batches.count; i++) {
        meet(&batches);
        meet(&batches);
        if (i >= warm_up_batches)
            print_batch(elapsed_ns(loggers));
        check_and_empty(&batches);
    }
    for (unsigned i = 0; i < THREADS; i++)
        check_code(pthread_join(loggers[i].id, NULL), "pthread_join");
    return finish();
}
