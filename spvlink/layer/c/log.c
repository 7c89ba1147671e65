/* What the layer did, in numbers: in memory while the process runs, then in two small text files,
 * layer-last (the run that wrote last) and layer-total (all runs since it was installed).
 * `spvlink layer log` prints them. A line is `name number` or `kind number text`.
 */
#include "layer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXTS 96
#define TEXT_SIZE 200
#define INTERVAL 1000000000u /* ns between two flushes while the application runs */

static const char *const NAMES[COUNTERS] = {
    "pipelines", "linked", "hits", "misses", "components_before", "components_after",
    "locations_before", "locations_after", "nanoseconds", "waited_nanoseconds",
};

struct line {
    char kind; /* 'p': passed through; 'e': event */
    char text[TEXT_SIZE];
    uint64_t count;
};

struct sums {
    uint64_t counters[COUNTERS];
    struct line lines[TEXTS]; /* the last one of each kind takes what has no place any more */
    unsigned used;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;   /* `sums` */
static pthread_mutex_t writer = PTHREAD_MUTEX_INITIALIZER;  /* the files, and what is below */
static struct sums sums, written, total;
static uint64_t flushed_at; /* 0: never */
static atomic_long owner;   /* a fork of the application has counted nothing */
static time_t started;      /* with `sums` */

static void add_line(struct sums *to, char kind, const char *text, uint64_t count) {
    for (unsigned i = 0; i < to->used; i++) {
        if (to->lines[i].kind == kind && strncmp(to->lines[i].text, text, TEXT_SIZE - 1) == 0) {
            to->lines[i].count += count;
            return;
        }
    }
    if (to->used + 2 > TEXTS) { /* two places stay for "other" */
        text = "other";
        for (unsigned i = 0; i < to->used; i++)
            if (to->lines[i].kind == kind && strcmp(to->lines[i].text, text) == 0) {
                to->lines[i].count += count;
                return;
            }
    }
    if (to->used == TEXTS)
        return;
    struct line *line = &to->lines[to->used++];
    line->kind = kind;
    line->count = count;
    snprintf(line->text, sizeof line->text, "%s", text);
    for (char *at = line->text; *at != 0; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
}

static void begin(void) {
    if (atomic_load(&owner) == 0) {
        atomic_store(&owner, getpid());
        started = time(NULL);
    }
}

void log_add(enum counter counter, uint64_t amount) {
    pthread_mutex_lock(&mutex);
    begin();
    sums.counters[counter] += amount;
    pthread_mutex_unlock(&mutex);
}

static void note(char kind, const char *text) {
    pthread_mutex_lock(&mutex);
    begin();
    add_line(&sums, kind, text, 1);
    pthread_mutex_unlock(&mutex);
}

void log_passed_through(const char *reason) {
    note('p', reason);
    log_line("passed through: %s", reason);
}

void log_event(const char *text) {
    note('e', text);
    log_line("trouble: %s", text);
}

void log_line(const char *format, ...) {
    const char *path = settings()->log;
    char line[512] = "spvlink layer: ";
    if (path[0] == 0)
        return;
    size_t at = strlen(line);
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
    if (fd < 0)
        return;
    struct stat status;
    bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    if (!regular || may_grow((uint64_t)status.st_size + at)) {
        ssize_t ignored = write(fd, line, at); /* one call: lines of two threads do not mix */
        (void)ignored;
    }
    if (fd != STDERR_FILENO)
        close(fd);
}

/* -- the files ------------------------------------------------------------------------------------- */

static void read_sums(const char *path, struct sums *into) {
    struct bytes from = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read_file(fd, &from, 1 << 20)) {
        char *rest = NULL;
        for (char *line = strtok_r((char *)from.data, "\n", &rest); line != NULL;
             line = strtok_r(NULL, "\n", &rest)) {
            char name[32], *end;
            size_t length = strcspn(line, " ");
            if (length >= sizeof name || line[length] == 0)
                continue;
            memcpy(name, line, length);
            name[length] = 0;
            uint64_t value = strtoull(line + length + 1, &end, 10);
            for (int i = 0; i < COUNTERS; i++)
                if (strcmp(name, NAMES[i]) == 0)
                    into->counters[i] = value;
            if (*end == ' ' && (strcmp(name, "passed_through") == 0 || strcmp(name, "event") == 0))
                add_line(into, name[0], end + 1, value);
        }
    }
    close(fd);
    bytes_free(&from);
}

static bool write_sums(const char *path, const struct sums *from, const char *head) {
    struct bytes text = {0};
    char line[TEXT_SIZE + 64];
    put(&text, head, strlen(head));
    for (int i = 0; i < COUNTERS; i++)
        put(&text, line, (size_t)snprintf(line, sizeof line, "%s %llu\n", NAMES[i],
                                          (unsigned long long)from->counters[i]));
    for (unsigned i = 0; i < from->used; i++) {
        const struct line *at = &from->lines[i];
        put(&text, line,
            (size_t)snprintf(line, sizeof line, "%s %llu %s\n",
                             at->kind == 'p' ? "passed_through" : "event",
                             (unsigned long long)at->count, at->text));
    }
    bool good = !text.failed && write_file(path, text.data, text.size);
    bytes_free(&text);
    return good;
}

static bool lock_file(int fd, bool patient) {
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB) != 0; tries++) {
        if (!patient || tries == 250)
            return false;
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return true;
}

/* What came since the last write is added to the total. Only a holder of `writer` gets here. */
static void write_files(bool patient) {
    static struct sums now; /* big for a stack of an unknown thread */
    char path[PATH_SIZE + 32], head[512];
    pthread_mutex_lock(&mutex);
    now = sums;
    time_t since = started;
    pthread_mutex_unlock(&mutex);
    snprintf(path, sizeof path, "%s/layer-lock", settings()->state);
    make_folders(path);
    int lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0)
        return;
    if (lock_file(lock, patient)) {
        snprintf(path, sizeof path, "%s/layer-total", settings()->state);
        memset(&total, 0, sizeof total);
        read_sums(path, &total);
        for (int i = 0; i < COUNTERS; i++)
            total.counters[i] += now.counters[i] - written.counters[i];
        for (unsigned i = 0; i < now.used; i++) { /* lines are only ever appended */
            const struct line *at = &now.lines[i];
            uint64_t before = i < written.used ? written.lines[i].count : 0;
            if (at->count > before)
                add_line(&total, at->kind, at->text, at->count - before);
        }
        if (write_sums(path, &total, ""))
            written = now;
        snprintf(head, sizeof head, "program %s\npid %ld\nstarted %lld\n",
                 program_invocation_short_name, atomic_load(&owner), (long long)since);
        snprintf(path, sizeof path, "%s/layer-last", settings()->state);
        write_sums(path, &now, head);
    }
    close(lock);
}

void log_flush(bool last) {
    if (settings()->state[0] == 0)
        return;
    if (pthread_mutex_trylock(&writer) != 0)
        return; /* somebody is at it */
    uint64_t now = now_ns();
    if (atomic_load(&owner) == getpid() && (last || flushed_at == 0 || now - flushed_at > INTERVAL)) {
        flushed_at = now;
        write_files(last);
    }
    pthread_mutex_unlock(&writer);
}

static void __attribute__((destructor)) at_exit(void) {
    if (atomic_load(&owner) != 0)
        log_flush(true);
}
