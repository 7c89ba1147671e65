/* What the layer did, in numbers. After each call the numbers of this process are written to a file
 * of its own (runs.c), so that they are there however the process ends. `spvlink layer log` adds
 * them up.
 */
#include "core.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000

static const char *const NAMES[COUNTERS] = {
    "pipelines", "linked", "nothing_to_gain", "parts", "refused", "not_in_time", "without_shaders",
    "frozen", "joined", "joined_as_it_was",
    "hits", "misses", "components_before", "components_after", "locations_before",
    "locations_after", "nanoseconds", "waited_nanoseconds",
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  /* `run` */
static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER; /* the file */
static struct run run;

/* -- numbers --------------------------------------------------------------------------------------- */

/* Holds `mutex`. A fork of the application has done nothing yet. */
static struct run *current(void) {
    struct timespec now;
    if (run.pid != getpid()) {
        memset(&run, 0, sizeof run);
        memcpy(run.magic, RUN_MAGIC, sizeof run.magic);
        run.pid = getpid();
        snprintf(run.program, sizeof run.program, "%s", program_invocation_short_name);
        for (int i = 0; i < COUNTERS; i++)
            snprintf(run.sums[i].text, TEXT_SIZE, "%s", NAMES[i]);
    }
    clock_gettime(CLOCK_REALTIME, &now);
    run.touched = (int64_t)now.tv_sec * NS + now.tv_nsec;
    return &run;
}

void log_add(enum counter counter, uint64_t amount) {
    pthread_mutex_lock(&mutex);
    current()->sums[counter].value += amount;
    pthread_mutex_unlock(&mutex);
}

static void note(struct run *to, const char *kind, const char *text) {
    char line[TEXT_SIZE];
    snprintf(line, sizeof line, "%s %.180s", kind, text);
    for (char *at = line; *at != 0; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    run_add(to, line, 1);
}

void log_pipeline(enum counter outcome, const char *reason) {
    pthread_mutex_lock(&mutex);
    struct run *to = current();
    to->sums[PIPELINES].value++;
    to->sums[outcome].value++;
    if (reason != NULL)
        note(to, "passed_through", reason);
    pthread_mutex_unlock(&mutex);
    if (reason != NULL)
        log_line("passed through: %s", reason);
}

/* How many there are of it, whatever became of what has it. */
void log_unknown(const char *kind, uint64_t number, const char *where) {
    char text[100];
    snprintf(text, sizeof text, "%s %llu on %s", kind, (unsigned long long)number, where);
    pthread_mutex_lock(&mutex);
    note(current(), "unknown", text);
    pthread_mutex_unlock(&mutex);
    log_line("unknown: %s", text);
}

void log_event(const char *text) {
    pthread_mutex_lock(&mutex);
    note(current(), "event", text);
    pthread_mutex_unlock(&mutex);
    log_line("trouble: %s", text);
}

/* All there is, out to the file. */
void log_flush(void) {
    static struct run now; /* big for a stack of an unknown thread */
    if (settings()->state[0] == 0)
        return;
    pthread_mutex_lock(&writer);
    pthread_mutex_lock(&mutex);
    now = *current();
    pthread_mutex_unlock(&mutex);
    run_write(&now);
    pthread_mutex_unlock(&writer);
}

/* -- lines ----------------------------------------------------------------------------------------- */

/* Once: the user asked for the lines, and would look for them in vain. */
static void cannot_write(const char *path) {
    static atomic_bool said;
    if (atomic_exchange(&said, true))
        return;
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%.120s: cannot write the log there: %m", path);
    dprintf(STDERR_FILENO, "%s: %s\n", host.line, text);
    pthread_mutex_lock(&mutex);
    note(current(), "event", text);
    pthread_mutex_unlock(&mutex);
}

void log_line(const char *format, ...) {
    const char *path = settings()->log;
    char line[512];
    if (path[0] == 0)
        return;
    size_t at = (size_t)snprintf(line, sizeof line, "%s: ", host.line);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + at, sizeof line - at - 1, format, arguments);
    va_end(arguments);
    at += (size_t)length < sizeof line - at - 1 ? (size_t)length : sizeof line - at - 2;
    line[at++] = '\n';
    int fd = strcmp(path, "stderr") == 0
                 ? STDERR_FILENO
                 : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                        0600); /* a FIFO that nobody reads is no reason to stand still */
    if (fd < 0) {
        cannot_write(path);
        return;
    }
    struct stat status;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!regular || may_grow((uint64_t)status.st_size + at)) {
        ssize_t ignored = write(fd, line, at); /* one call: lines of two threads do not mix */
        (void)ignored;
    }
    if (fd != STDERR_FILENO)
        close(fd);
}
