// A trace: events of all threads in one file, in Chrome's trace event format.
//
// The file is mapped, so that what was written is in it whatever becomes of the process. It is an array that grows by
// chunks of spaces, which mean nothing between its elements. Each thread has a chunk of its own, and copies an event there
// as a whole. Only the closing bracket is missing until the trace is stopped, which the format allows.

#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE // program_invocation_short_name
#endif

#include "COwnerLifetime.h"

#include <errno.h>

uint32_t tether_trace_number;

#if defined(__unix__) || defined(__APPLE__)

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif

#include "TraceText.h"

// Of each chunk the end stays free, so that the trace can be ended where the disk is full.
#define CHUNK 65536
#define CLOSING 256

/// The place at which a thread writes. Those of threads that exited are used again, and never freed.
typedef struct writer {
    /// Set around the look at the number of the trace and all that follows from it: who stops the trace waits for that.
    _Atomic bool is_busy;
    _Atomic bool is_used;
    bool is_named;
    /// Why something was lost, or 0. Nothing more is written here then, so that no end is in the file whose beginning is not.
    int failure;
    uint64_t thread;
    /// The trace that all below belongs to.
    uint32_t number;
    uint64_t written;
    char *next;
    char *end;
    struct writer *older;
} writer;

static _Thread_local writer *own;
static writer *_Atomic newest;
static pthread_key_t exit_key;
static bool has_exit_key;

static pthread_mutex_t control = PTHREAD_MUTEX_INITIALIZER;
/// Guards all below, but what is constant while the trace is on.
static pthread_mutex_t growth = PTHREAD_MUTEX_INITIALIZER;
static char spaces[CHUNK];
static char *path;
static int file = -1;
static dev_t device;
static ino_t inode;
static char *start;
static size_t limit;
static size_t size;
/// Where the file says how many events it lacks, from its beginning on.
static char *count;
static uint64_t not_written;
static int reason;
static _Atomic uint64_t started;

static uint64_t now(void) {
#if defined(__APPLE__)
    return clock_gettime_nsec_np(CLOCK_UPTIME_RAW);
#else
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
#endif
}

/// The last moment that one event alone has.
static _Atomic uint64_t last;

/// Now, or soon after, so that no other event has the same moment.
static uint64_t own_moment(void) {
    uint64_t time = now(), known = atomic_load_explicit(&last, memory_order_relaxed);
    do {
        if (time <= known) time = known + 1;
    } while (!atomic_compare_exchange_weak_explicit(&last, &known, time, memory_order_relaxed, memory_order_relaxed));
    return time;
}

/// Now, but not before what the thread has written: those moments run ahead of a clock that is coarse.
static uint64_t later_moment(void) {
    uint64_t time = now(), known = atomic_load_explicit(&last, memory_order_relaxed);
    return time > known ? time : known;
}

// MARK: Writing

/// Counts an event that is not written, in the file too if that is known to be there still.
static void lose(int error, bool has_file) {
    pthread_mutex_lock(&growth);
    not_written++;
    reason = error;
    char digits[20];
    size_t length = put_number(digits, not_written) - digits;
    if (has_file) memcpy(count + sizeof digits - length, digits, length);
    pthread_mutex_unlock(&growth);
}

/// Whether `file` is still the trace's. A program may close what it does not know, as daemons do, and the number may then be
/// that of a file of its own.
static bool has_file(void) {
    struct stat found;
    return file >= 0 && fstat(file, &found) == 0 && found.st_dev == device && found.st_ino == inode;
}

/// Gives a thread a chunk; returns an error, or 0.
static int grow(writer *writer) {
    int error = 0;
#if !defined(__ANDROID__)
    // A thread that was cancelled in here would leave the lock locked. Android has no cancelling.
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
#endif
    pthread_mutex_lock(&growth);
    if (limit - size < CHUNK) {
        error = EFBIG;
    } else if (!has_file()) {
        error = EBADF;
    } else {
        // Written, not only mapped, so that a full disk is an error here, and not a signal later.
        ssize_t count = pwrite(file, spaces, CHUNK, size);
        error = count == CHUNK ? 0 : count < 0 ? errno : ENOSPC;
    }
    if (!error) {
        writer->next = start + size;
        size += CHUNK;
        writer->end = start + size - CLOSING;
    }
    pthread_mutex_unlock(&growth);
#if !defined(__ANDROID__)
    pthread_setcancelstate(state, NULL);
#endif
    return error;
}

static int append(writer *writer, const char *text, size_t length) {
    if ((size_t)(writer->end - writer->next) < length) {
        int error = grow(writer);
        if (error) return error;
    }
    // The first byte last: of an event that a crash of another thread tears no line begins with a brace.
    memcpy(writer->next + 1, text + 1, length - 1);
    __atomic_store_n(writer->next, *text, __ATOMIC_RELEASE);
    writer->next += length;
    return 0;
}

static bool is_main_thread(uint64_t thread) {
#if defined(__linux__)
    return thread == process;
#else
    (void)thread;
    return pthread_main_np();
#endif
}

/// Says what the calling thread is called, if it has a name.
static int append_name(writer *writer) {
    char name[64] = "";
    if (is_main_thread(writer->thread)) {
        put(name, "main");
    } else {
#if defined(__linux__)
        prctl(PR_GET_NAME, name);
#elif defined(__APPLE__)
        pthread_getname_np(pthread_self(), name, sizeof name);
#endif
    }
    if (!*name) return 0;
    char text[LONGEST_EVENT];
    char *at = put(put_head(text, 'M', writer->thread), ",\"name\":\"thread_name\",\"args\":{\"name\":\"");
    at = put(put_text(at, (const uint8_t *)name, strlen(name)), "\"}},\n");
    return append(writer, text, at - text);
}

static void thread_exits(void *used) {
    own = NULL;
    atomic_store_explicit(&((writer *)used)->is_used, false, memory_order_release);
}

/// A writer for the calling thread; `NULL` where there is no memory.
static writer *adopt(void) {
    writer *found = atomic_load_explicit(&newest, memory_order_acquire);
    while (found && atomic_exchange_explicit(&found->is_used, true, memory_order_acquire)) found = found->older;
    if (!found) {
        found = calloc(1, sizeof *found);
        if (!found) return NULL;
        atomic_init(&found->is_used, true);
        found->older = atomic_load_explicit(&newest, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(
            &newest, &found->older, found, memory_order_seq_cst, memory_order_relaxed)) {
        }
    }
#if defined(__linux__)
    found->thread = syscall(SYS_gettid);
#elif defined(__FreeBSD__)
    found->thread = pthread_getthreadid_np();
#else
    pthread_threadid_np(NULL, &found->thread);
#endif
    found->is_named = false;
    // Where a program has all keys in use, the writers of threads that exited are not used again.
    if (has_exit_key) pthread_setspecific(exit_key, found);
    return own = found;
}

/// Has a writer write into another trace from now on.
static void enter(writer *writer, uint32_t number) {
    writer->number = number;
    writer->written = 0;
    writer->next = writer->end = NULL;
    writer->is_named = false;
    writer->failure = 0;
}

static int append_event(writer *writer, uint32_t number, const tether_event *event, uint64_t time) {
    if (writer->number != number) enter(writer, number);
    if (!writer->is_named && !writer->failure) {
        writer->failure = append_name(writer);
        writer->is_named = true;
    }
    if (!writer->failure) {
        char text[LONGEST_EVENT];
        writer->failure = append(writer, text, format(text, event, time, writer->thread));
        writer->written += !writer->failure;
    }
    return writer->failure;
}

uint64_t tether_trace_write(const tether_event *event) {
    bool ends = event->phase == 'E' || event->phase == 'e' || event->phase == 'f';
    bool begins = event->phase == 'B' || event->phase == 'b' || event->phase == 's';
    uint64_t time = event->time ? event->time : begins ? own_moment() : later_moment();
    writer *writer = own ? own : adopt();
    if (!writer) {
        lose(ENOMEM, false);
        return 0;
    }
    atomic_store(&writer->is_busy, true);
    uint32_t number = __atomic_load_n(&tether_trace_number, __ATOMIC_SEQ_CST);
    // Not what has its beginning in another trace.
    if (number && (ends ? event->id : time) >= atomic_load_explicit(&started, memory_order_relaxed)) {
        int error = append_event(writer, number, event, time);
        if (error) lose(error, true);
        // The end of what may change threads is not written, either; that of a slice finds the writer as it is.
        if (error && (event->phase == 'b' || event->phase == 's')) time = 0;
    }
    atomic_store_explicit(&writer->is_busy, false, memory_order_release);
    return time;
}

// MARK: Start and end

static void close_file(void) {
    if (has_file()) close(file);
    file = -1;
}

static void child_forks(void) {
    // The writers' threads are not here, and what is locked nobody unlocks.
    own = NULL;
    atomic_store(&newest, NULL);
    pthread_mutex_init(&control, NULL);
    pthread_mutex_init(&growth, NULL);
    if (tether_trace_number) munmap(start, limit);
    tether_trace_number = 0;
    close_file();
}

static void stop_locked(tether_trace_result *result);

static void process_exits(void) {
    tether_trace_result result;
    // A signal's handler may exit in the middle of all this: then the file stays as a crash would leave it.
    if (pthread_mutex_trylock(&control)) return;
    if (tether_trace_number && !(own && atomic_load(&own->is_busy))) stop_locked(&result);
    pthread_mutex_unlock(&control);
}

static void prepare(void) {
    memset(spaces, ' ', sizeof spaces);
    spaces[CHUNK - 1] = '\n';
    has_exit_key = pthread_key_create(&exit_key, thread_exits) == 0;
    pthread_atfork(NULL, NULL, child_forks);
    atexit(process_exits);
}

static const char *process_name(void) {
#if defined(__linux__) && !defined(__ANDROID__)
    return program_invocation_short_name;
#else
    extern const char *getprogname(void);
    return getprogname();
#endif
}

/// The array's beginning: the process's name, and how many events are not here.
static size_t put_beginning(char *text) {
    const char *name = process_name();
    char *at = put(put_head(put(text, "[\n"), 'M', process), ",\"name\":\"process_name\",\"args\":{\"name\":\"");
    at = put(put_text(at, (const uint8_t *)name, strlen(name)), "\"}},\n");
    at = put_time(put(put_head(at, 'i', process), ",\"ts\":"), atomic_load(&started));
    at = put(at, ",\"name\":\"trace begins\",\"s\":\"p\",\"args\":{\"not written\":");
    memset(at, ' ', 20);
    at[19] = '0';
    count = start + (at - text);
    return put(at + 20, "}},\n") - text;
}

/// Opens the file, and maps it as far as it may grow.
static int open_file(const char *new_path, size_t new_limit) {
    struct rlimit bound;
    if (getrlimit(RLIMIT_FSIZE, &bound) == 0 && (uint64_t)bound.rlim_cur < new_limit) {
        new_limit = bound.rlim_cur;
    }
    limit = new_limit / CHUNK * CHUNK;
    size = not_written = reason = 0;
    if (limit < CHUNK) return EFBIG;
    file = open(new_path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    // Not where a standard stream was closed, which others write to.
    if (file >= 0 && file < 3) {
        int low = file;
        file = fcntl(low, F_DUPFD_CLOEXEC, 3);
        close(low);
    }
    struct stat made;
    if (file < 0 || fstat(file, &made) != 0) return errno;
    device = made.st_dev;
    inode = made.st_ino;
    // Another process may write a trace there.
    if (flock(file, LOCK_EX | LOCK_NB) != 0 || ftruncate(file, 0) != 0) return errno;
    start = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return start == MAP_FAILED ? errno : 0;
}

static int start_locked(const char *new_path, size_t new_limit) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static uint32_t last;
    if (tether_trace_number) return EBUSY;
    pthread_once(&once, prepare);
    writer *writer = own ? own : adopt();
    if (!writer) return ENOMEM;
    enter(writer, ++last);
    int error = open_file(new_path, new_limit);
    if (!error && (error = grow(writer))) munmap(start, limit);
    if (error) {
        close_file();
        return error;
    }
    process = getpid();
    free(path);
    path = strdup(new_path);
    atomic_store(&started, own_moment());
    char text[2 * LONGEST_EVENT];
    append(writer, text, put_beginning(text));
    __atomic_store_n(&tether_trace_number, last, __ATOMIC_SEQ_CST);
    return 0;
}

int tether_trace_start(const char *new_path, size_t new_limit) {
    pthread_mutex_lock(&control);
    int error = start_locked(new_path, new_limit);
    pthread_mutex_unlock(&control);
    return error;
}

static void stop_locked(tether_trace_result *result) {
    uint32_t number = tether_trace_number;
    __atomic_store_n(&tether_trace_number, 0, __ATOMIC_SEQ_CST);
    result->written = 0;
    for (writer *writer = atomic_load(&newest); writer; writer = writer->older) {
        while (atomic_load(&writer->is_busy)) sched_yield();
        if (writer->number == number) result->written += writer->written;
    }
    result->not_written = not_written;
    char *at = start + size;
    while (at[-1] == ' ' || at[-1] == '\n') at--;
    at = put_time(put(put_head(put(at, "\n"), 'i', process), ",\"ts\":"), now());
    at = put(at, ",\"name\":\"trace ends\",\"s\":\"p\",\"args\":{\"written\":");
    at = put_number(put(put_number(at, result->written), ",\"not written\":"), not_written);
    size = put(at, "}}\n]\n") - start;
    // Where the program has closed the file, spaces stay at its end.
    if (has_file() && ftruncate(file, size) != 0) reason = errno;
    munmap(start, limit);
    close_file();
    if (not_written) {
        fprintf(stderr, "Tether's trace %s lacks %llu events: %s.\n", path, (unsigned long long)not_written,
            reason == EFBIG ? "it has reached its limit; start it with a higher one"
            : reason == EBADF ? "the program has closed its file; start it after that"
                              : strerror(reason));
    }
}

bool tether_trace_stop(tether_trace_result *result) {
    pthread_mutex_lock(&control);
    bool is_on = tether_trace_number != 0;
    if (is_on) stop_locked(result);
    pthread_mutex_unlock(&control);
    return is_on;
}

// Before the program's first line; the limit is that of `Trace.start`. Not for whoever runs a program with more rights than
// his own.
__attribute__((constructor)) static void start_as_environment_says(void) {
    const char *name = getenv("TETHER_TRACE");
    if (!name || !*name || getuid() != geteuid() || getgid() != getegid()) return;
    int error = tether_trace_start(name, (size_t)256 << 20);
    if (!error) return;
    fprintf(stderr, "TETHER_TRACE=%s: no trace is written: %s.\n", name,
        error == EWOULDBLOCK ? "another process, or copy of Tether, writes one there; give each a file of its own" : strerror(error));
}

#else

int tether_trace_start(const char *path, size_t limit) {
    (void)path, (void)limit;
    return ENOTSUP;
}

bool tether_trace_stop(tether_trace_result *result) {
    (void)result;
    return false;
}

uint64_t tether_trace_write(const tether_event *event) { return event->time; }

#endif
