/* Increments of one counter under a pthread mutex or a System V semaphore, as a plain C program.
 *
 *     increment pthread_mutex|sysv_semaphore THREADS OPS BATCHES WARM_UP_BATCHES CPU...
 *
 * Every thread waits at its end of a socket pair for the number of operations and meets the others; it
 * reads the clock, takes the lock, adds one and lets go that many times, reads the clock again and
 * answers. A batch lasts from the earliest begin to the latest end. Prints the elapsed nanoseconds of
 * each batch, one a line.
 *
 * The counter is loaded and stored, not added to atomically, so a lock that lets two in loses counts. */
#include "yardstick.h"

#include <signal.h>
#include <stdatomic.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { MOST_THREADS = 64, LINE_BYTES = 128, LOOKS_A_TURN = 200 };

/* Lock, counter and meeting place, each on cache lines of its own. */
struct shared {
    _Alignas(LINE_BYTES) pthread_mutex_t mutex;
    _Alignas(LINE_BYTES) atomic_uint_least64_t counter;
    _Alignas(LINE_BYTES) atomic_uint come;
    _Alignas(LINE_BYTES) atomic_uint meetings;
};

union semun {
    int value;
};

struct answer {
    uint64_t begin_ns;
    uint64_t end_ns;
};

struct worker {
    pthread_t thread;
    unsigned cpu;
    unsigned threads;
    int gate; /* The main thread's end. */
    int own_end;
    int semaphore; /* -1: the mutex. */
    struct shared *shared;
};

/* Waits until all threads have come, so that they begin together. */
static void meet(struct shared *shared, unsigned threads)
{
    unsigned before = atomic_load_explicit(&shared->meetings, memory_order_acquire);
    unsigned looks = 0;

    if (atomic_fetch_add_explicit(&shared->come, 1, memory_order_acq_rel) + 1 == threads) {
        atomic_store_explicit(&shared->come, 0, memory_order_relaxed);
        atomic_store_explicit(&shared->meetings, before + 1, memory_order_release);
        return;
    }
    while (atomic_load_explicit(&shared->meetings, memory_order_acquire) == before)
        if (++looks % LOOKS_A_TURN == 0)
            sched_yield();
}

static void add_one(struct shared *shared)
{
    uint64_t value = atomic_load_explicit(&shared->counter, memory_order_relaxed);
    atomic_store_explicit(&shared->counter, value + 1, memory_order_relaxed);
}

static void increment_under_mutex(struct shared *shared, uint64_t ops)
{
    for (uint64_t i = 0; i < ops; i++) {
        check_code(pthread_mutex_lock(&shared->mutex), "pthread_mutex_lock");
        add_one(shared);
        check_code(pthread_mutex_unlock(&shared->mutex), "pthread_mutex_unlock");
    }
}

static void increment_under_semaphore(struct shared *shared, int semaphore, uint64_t ops)
{
    struct sembuf down = { .sem_num = 0, .sem_op = -1, .sem_flg = 0 };
    struct sembuf up = { .sem_num = 0, .sem_op = 1, .sem_flg = 0 };

    for (uint64_t i = 0; i < ops; i++) {
        if (semop(semaphore, &down, 1) != 0)
            die("semop down");
        add_one(shared);
        if (semop(semaphore, &up, 1) != 0)
            die("semop up");
    }
}

static void answer(const struct worker *self, uint64_t begin_ns, uint64_t end_ns)
{
    struct answer answer = { begin_ns, end_ns };
    if (send(self->own_end, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
        die("send an answer");
}

/* One thread: says that it is ready, then does batches until its gate closes. */
static void *work(void *argument)
{
    const struct worker *self = argument;
    uint64_t ops;
    ssize_t got;

    pin(self->cpu);
    answer(self, 0, 0);
    while ((got = recv(self->own_end, &ops, sizeof ops, 0)) == sizeof ops) {
        if (self->threads > 1)
            meet(self->shared, self->threads);
        uint64_t begin_ns = now_ns();
        if (self->semaphore < 0)
            increment_under_mutex(self->shared, ops);
        else
            increment_under_semaphore(self->shared, self->semaphore, ops);
        answer(self, begin_ns, now_ns());
        check_pinned(self->cpu);
    }
    if (got != 0)
        die("receive at the gate");
    return NULL;
}

static struct answer await_answer(const struct worker *worker)
{
    struct answer answer;
    if (recv(worker->gate, &answer, sizeof answer, 0) != sizeof answer)
        die("receive an answer");
    return answer;
}

/* One batch of all threads. Returns latest end less earliest begin. */
static uint64_t time_batch(const struct worker *workers, unsigned threads, uint64_t ops)
{
    uint64_t begin_ns = UINT64_MAX, end_ns = 0;

    for (unsigned i = 0; i < threads; i++)
        if (send(workers[i].gate, &ops, sizeof ops, MSG_NOSIGNAL) != sizeof ops)
            die("open a gate");
    for (unsigned i = 0; i < threads; i++) {
        struct answer answer = await_answer(&workers[i]);
        if (answer.begin_ns < begin_ns)
            begin_ns = answer.begin_ns;
        if (answer.end_ns > end_ns)
            end_ns = answer.end_ns;
    }
    return end_ns - begin_ns;
}

static void check_counter(struct shared *shared, uint64_t expected)
{
    uint64_t counted = atomic_load_explicit(&shared->counter, memory_order_relaxed);
    if (counted != expected) {
        fprintf(stderr, "yardstick: the counter is %" PRIu64 ", not %" PRIu64 "\n", counted, expected);
        exit(EXIT_FAILURE);
    }
}

static void start(struct worker *worker)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) != 0)
        die("socketpair");
    worker->gate = ends[0];
    worker->own_end = ends[1];
    check_code(pthread_create(&worker->thread, NULL, work, worker), "pthread_create");
}

static void stop(struct worker *worker)
{
    if (close(worker->gate) != 0)
        die("close a gate");
    check_code(pthread_join(worker->thread, NULL), "pthread_join");
}

/* A default mutex, but shared between processes, on pages that are shared too. */
static struct shared *map_shared(void)
{
    pthread_mutexattr_t attributes;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        die("mmap");
    check_code(pthread_mutexattr_init(&attributes), "pthread_mutexattr_init");
    check_code(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), "pthread_mutexattr_setpshared");
    check_code(pthread_mutex_init(&shared->mutex, &attributes), "pthread_mutex_init");
    check_code(pthread_mutexattr_destroy(&attributes), "pthread_mutexattr_destroy");
    atomic_init(&shared->counter, 0);
    atomic_init(&shared->come, 0);
    atomic_init(&shared->meetings, 0);
    return shared;
}

/* A semaphore of value 1, in an IPC namespace of our own where the kernel allows one. */
static int make_semaphore(void)
{
    if (unshare(CLONE_NEWIPC) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWIPC) != 0)
        fprintf(stderr, "yardstick: no private IPC namespace (%s): using the machine's\n", strerror(errno));
    int semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    if (semaphore < 0)
        die("semget");
    return semaphore;
}

/* Removes the semaphore once every other holder of the pipe's write end is gone, however it went. */
static _Noreturn void guard(int semaphore, int alive)
{
    char nothing;
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    ssize_t got = read(alive, &nothing, 1);
    int removed = semctl(semaphore, 0, IPC_RMID);
    _exit(got == 0 && removed == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Starts the guard. Returns its process and the write end of its pipe. */
static pid_t start_guard(int semaphore, int *alive)
{
    int ends[2];
    if (pipe(ends) != 0) {
        semctl(semaphore, 0, IPC_RMID);
        die("pipe");
    }
    pid_t child = fork();
    if (child < 0) {
        semctl(semaphore, 0, IPC_RMID);
        die("fork");
    }
    if (child == 0) {
        close(ends[1]);
        guard(semaphore, ends[0]);
    }
    close(ends[0]);
    *alive = ends[1];
    return child;
}

static void dismiss_guard(pid_t child, int alive)
{
    int status;
    if (close(alive) != 0)
        die("close the guard's pipe");
    if (waitpid(child, &status, 0) != child)
        die("waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != EXIT_SUCCESS)
        reject("the semaphore", "was not removed");
}

/* Puts the main thread on a CPU that no worker uses, where there is one: its waking disturbs nobody. */
static void step_aside(const struct worker *workers, unsigned threads)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        die("sched_getaffinity");
    for (unsigned i = 0; i < threads; i++)
        CPU_CLR(workers[i].cpu, &set);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &set)) {
            pin(cpu);
            return;
        }
    }
}

/* Warms up, then times and prints each batch; the count is checked after every one. */
static void time_batches(const struct worker *workers, unsigned threads, char **words)
{
    uint64_t ops = number(words[0], 1, UINT64_C(1) << 40);
    unsigned batches = (unsigned)number(words[1], 1, 1000000);
    unsigned warm_up_batches = (unsigned)number(words[2], 0, 1000000);

    for (unsigned i = 0; i < threads; i++)
        await_answer(&workers[i]);
    for (unsigned i = 0; i < warm_up_batches + batches; i++) {
        uint64_t elapsed_ns = time_batch(workers, threads, ops);
        check_counter(workers[0].shared, (i + 1) * ops * threads);
        if (i >= warm_up_batches)
            print_batch(elapsed_ns);
    }
}

/* One semaphore and the process that sees to its end. */
struct guarded {
    int semaphore;
    pid_t guard;
    int alive;
};

static struct guarded make_guarded_semaphore(void)
{
    struct guarded guarded = { .semaphore = make_semaphore() };
    guarded.guard = start_guard(guarded.semaphore, &guarded.alive);
    if (semctl(guarded.semaphore, 0, SETVAL, (union semun){ .value = 1 }) != 0)
        die("semctl");
    return guarded;
}

/* Starts the threads, times them and ends them. `semaphore` is -1 for the mutex. */
static void measure(int semaphore, unsigned threads, char **words)
{
    struct worker workers[MOST_THREADS];
    struct shared *shared = map_shared();

    for (unsigned i = 0; i < threads; i++) {
        workers[i].cpu = (unsigned)number(words[6 + i], 0, CPU_SETSIZE - 1);
        workers[i].threads = threads;
        workers[i].semaphore = semaphore;
        workers[i].shared = shared;
        start(&workers[i]);
    }
    step_aside(workers, threads);
    time_batches(workers, threads, words + 3);
    for (unsigned i = 0; i < threads; i++)
        stop(&workers[i]);
    check_code(pthread_mutex_destroy(&shared->mutex), "pthread_mutex_destroy");
}

int main(int count, char **words)
{
    if (count < 7)
        reject("expected 6 arguments or more", "mechanism, threads, ops, batches, warm-up batches, a CPU each");
    unsigned threads = (unsigned)number(words[2], 1, MOST_THREADS);
    if ((unsigned)count != 6 + threads)
        reject("expected a CPU for each thread", words[2]);
    alarm(DEADLINE_SECONDS);
    if (strcmp(words[1], "pthread_mutex") == 0) {
        measure(-1, threads, words);
    } else if (strcmp(words[1], "sysv_semaphore") == 0) {
        struct guarded guarded = make_guarded_semaphore();
        measure(guarded.semaphore, threads, words);
        dismiss_guard(guarded.guard, guarded.alive);
    } else {
        reject("no such mechanism", words[1]);
    }
    return finish();
}
