/* The linker process: `spvlink serve`, behind a socket in a folder that is only ours.
 *
 * One connection a request, so that threads share nothing. Whatever goes wrong, the answer is a
 * line that says so, within the time that the settings allow. A request that reached nobody is
 * left as a file in the cache folder (`pending`), where the next linker process finds it.
 */
#include "core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000u
#define SEND_LIMIT (50 * MS)    /* to hand over a request that nobody waits for */
#define POLL_EVERY 4            /* ms between looks for a server that is starting */
#define START_AGAIN 10000000000 /* ns; doubled after each start that led to nothing */
#define PENDING_MOST 512        /* files of one process */
#define TROUBLE 150             /* bytes of a line about the linker process */
#define PATIENCE 3              /* answers in a row that may come too late */
#define NO_WAIT 10000000000     /* ns without waiting after so many */

static atomic_ullong next_start;   /* no start before this time */
static atomic_uint failed_starts;  /* in a row */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER; /* `starting`, with `next_start` */
static bool starting;              /* a thread is at it: the others wait for the same process */
static atomic_uint late_answers;   /* in a row */
static atomic_ullong wait_again;   /* no waiting before this time */
static atomic_ullong started;      /* when a linker process was started last; 0: never */
static atomic_uint pending;
static _Thread_local bool presenting; /* this thread has presented */

/* How long somebody waited, in time that passed: threads that wait together count once. */
static pthread_mutex_t waiting = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static unsigned waiters;
static uint64_t waited_total, waited_since; /* ns; the latter while there are waiters */

static void wait_begins(uint64_t now) {
    pthread_mutex_lock(&waiting);
    if (waiters++ == 0)
        waited_since = now;
    pthread_mutex_unlock(&waiting);
}

static void wait_ends(uint64_t now) {
    pthread_mutex_lock(&waiting);
    if (--waiters == 0)
        waited_total += now - waited_since;
    pthread_mutex_unlock(&waiting);
}

static uint64_t waited(void) {
    pthread_mutex_lock(&waiting);
    uint64_t total = waited_total + (waiters > 0 ? now_ns() - waited_since : 0);
    pthread_mutex_unlock(&waiting);
    return total;
}

static uint64_t loaded;
static void __attribute__((constructor)) at_load(void) { loaded = now_ns(); }

/* How long threads may still wait, in ns: so that a start does not take much longer. */
static uint64_t allowance(void) {
    const struct settings *s = settings();
    uint64_t most = s->wait_total_ns, gone = waited();
    if (s->wait_percent < 100) {
        uint64_t part = (now_ns() - loaded) / 100 * s->wait_percent;
        most = part < most ? part : most;
    }
    return gone < most ? most - gone : 0;
}

static int left_ms(uint64_t deadline) {
    uint64_t now = now_ns();
    return now >= deadline ? 0 : (int)((deadline - now + MS - 1) / MS);
}

/* -- starting it ----------------------------------------------------------------------------------- */

static bool may_start(void) {
    unsigned long long now = now_ns(), next = atomic_load(&next_start);
    unsigned failed = atomic_load(&failed_starts);
    unsigned long long pause = (unsigned long long)START_AGAIN << (failed < 6 ? failed : 6);
    return now >= next && atomic_compare_exchange_strong(&next_start, &next, now + pause);
}

/* Whether this thread is to start one; `others`: whether another thread is at it. */
static bool begin_start(bool *others) {
    pthread_mutex_lock(&start_lock);
    *others = starting;
    bool mine = !starting && may_start();
    starting = starting || mine;
    pthread_mutex_unlock(&start_lock);
    return mine;
}

static void end_start(void) {
    pthread_mutex_lock(&start_lock);
    starting = false;
    pthread_mutex_unlock(&start_lock);
}

/* Only what the linker needs: an application's LD_PRELOAD or PYTHONPATH is not for it. */
static void environment(char *into[], size_t room) {
    static const char *const KEPT[] = {
        "HOME=", "PATH=", "USER=", "LANG=", "LC_ALL=", "TMPDIR=",
        "XDG_CACHE_HOME=", "XDG_RUNTIME_DIR=", "XDG_STATE_HOME=",
    };
    extern char **environ;
    size_t count = 0;
    for (char **at = environ; at != NULL && *at != NULL; at++)
        for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
            if (strncmp(*at, KEPT[i], strlen(KEPT[i])) == 0 && count + 1 < room)
                into[count++] = *at;
    into[count] = NULL;
}

/* Files that the application has open are none of the linker's; somebody may wait for their end.
 * The package is the one that the layer was built with, which is not the one that this Python finds
 * if there are several, or none. It stands behind the application from the first moment on.
 */
#define PROGRAM                                                                                    \
    "import os, sys; os.nice(10); os.closerange(3, 1 << 20);"                                      \
    "from importlib.util import module_from_spec, spec_from_file_location;"                        \
    "path = sys.argv.pop(1);"                                                                      \
    "spec = spec_from_file_location('spvlink', path + '/__init__.py',"                             \
    " submodule_search_locations=[path]);"                                                         \
    "sys.modules['spvlink'] = module_from_spec(spec);"                                             \
    "spec.loader.exec_module(sys.modules['spvlink']);"                                             \
    "from spvlink.cli import main; sys.exit(main())"

/* A shell stands between, and is gone at once: the linker process is no child of the application,
 * which may count its children. posix_spawn copies no page tables, whatever the application's size.
 */
static const char *start(void) {
    const struct settings *s = settings();
    char idle[16], size[16], *environment_of[16];
    if (access(s->python, X_OK) != 0)
        return "no Python where the layer was built with";
    snprintf(idle, sizeof idle, "%u", s->idle_s);
    snprintf(size, sizeof size, "%u", s->cache_mb);
    const char *words[] = {
        "sh", "-c", "cd /; \"$@\" </dev/null >/dev/null 2>&1 &", "spvlink-serve",
        s->python, "-P", "-c", PROGRAM, s->package, "serve", "--idle", idle,
        "--cache-dir", s->cache, "--cache-mb", size, NULL,
    };
    environment(environment_of, sizeof environment_of / sizeof *environment_of);
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    pid_t shell;
    int failed = posix_spawn(&shell, "/bin/sh", NULL, &attributes, (char *const *)words,
                             environment_of);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0)
        return "the linker process could not be started";
    while (waitpid(shell, NULL, 0) < 0 && errno == EINTR)
        continue;
    return NULL;
}

/* -- talking to it --------------------------------------------------------------------------------- */

static int try_connect(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (settings()->socket[0] == 0) {
        errno = EACCES;
        return -1;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    snprintf(address.sun_path, sizeof address.sun_path, "%.107s", settings()->socket);
    int error = EPERM; /* somebody else's: none is started instead */
    if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        error = errno;
    else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid())
        return fd;
    close(fd);
    errno = error;
    return -1;
}

static int connected(int fd) {
    atomic_store(&failed_starts, 0);
    return fd;
}

/* Waits for the linker process that is being started. */
static int reach_new(uint64_t deadline, const char **why) {
    if (left_ms(deadline) == 0) { /* nobody waits: it finds the request when it is there */
        *why = "not linked yet: the linker process is being started";
        return -1;
    }
    do {
        poll(NULL, 0, POLL_EVERY);
        int fd = try_connect();
        if (fd >= 0)
            return connected(fd);
    } while (left_ms(deadline) > 0);
    *why = "the linker process did not start in time";
    return -1;
}

/* A connection, or -1 and why; a linker process is started if there is none. */
static int reach(uint64_t deadline, const char **why) {
    int fd = try_connect();
    if (fd >= 0)
        return connected(fd);
    *why = settings()->socket[0] == 0 ? "no folder for the socket that is only this user's"
                                      : "the linker process could not be reached";
    if (errno != ENOENT && errno != ECONNREFUSED)
        return -1;
    bool others;
    if (!begin_start(&others)) {
        if (others)
            return reach_new(deadline, why);
        unsigned long long last = atomic_load(&started);
        if (last == 0 || now_ns() - last >= START_AGAIN)
            return -1;
        *why = "not linked yet: the linker process is being started";
        if (left_ms(deadline) == 0 || atomic_load(&failed_starts) > 1)
            return -1;
        fd = reach_new(deadline, why); /* who started it did not wait, and we do */
        if (fd < 0)
            atomic_fetch_add(&failed_starts, 1);
        return fd;
    }
    const char *trouble = start();
    if (trouble == NULL)
        atomic_store(&started, now_ns());
    if (trouble == NULL)
        fd = reach_new(deadline, why);
    else
        *why = trouble;
    if (fd < 0)
        atomic_fetch_add(&failed_starts, 1); /* it may come yet: the first connection forgets this */
    end_start();
    return fd;
}

static bool ready(int fd, short what, uint64_t deadline) {
    struct pollfd one = {.fd = fd, .events = what};
    for (;;) {
        int left = left_ms(deadline), got = poll(&one, 1, left);
        if (got > 0)
            return true;
        if (got < 0 && errno != EINTR)
            return false;
        if (left == 0)
            return false;
    }
}

static bool send_all(int fd, const struct bytes *request, uint64_t deadline) {
    for (size_t at = 0; at < request->size;) {
        ssize_t sent = send(fd, request->data + at, request->size - at, MSG_NOSIGNAL);
        if (sent > 0)
            at += (size_t)sent;
        else if (sent < 0 && errno == EAGAIN && ready(fd, POLLOUT, deadline))
            continue;
        else if (sent < 0 && errno == EINTR)
            continue;
        else
            return false;
    }
    return true;
}

/* Exactly `size` bytes. 1: there; 0: too late; -1: the other side went away. */
static int receive(int fd, void *into, size_t size, uint64_t deadline) {
    for (size_t at = 0; at < size;) {
        ssize_t got = recv(fd, (char *)into + at, size - at, 0);
        if (got > 0)
            at += (size_t)got;
        else if (got < 0 && errno == EAGAIN) {
            if (!ready(fd, POLLIN, deadline))
                return 0;
        } else if (got == 0 || errno != EINTR)
            return -1;
    }
    return 1;
}

/* Bytes of the answer, bytes of a line for the log, the answer, the line: trouble that the linker
 * process has with its disk, and that costs this pipeline nothing. */
static const char *receive_answer(int fd, struct bytes *reply, uint64_t deadline) {
    uint32_t sizes[2];
    char line[TROUBLE + 1] = "";
    int got = receive(fd, sizes, sizeof sizes, deadline);
    if (got == 1 && sizes[0] <= MAX_FILE && sizes[1] <= TROUBLE) {
        reply->data = malloc(sizes[0] + 1);
        if (reply->data == NULL)
            return "no memory";
        reply->room = sizes[0] + 1;
        reply->size = sizes[0];
        got = receive(fd, reply->data, sizes[0], deadline);
        if (got == 1)
            got = receive(fd, line, sizes[1], deadline);
    } else if (got == 1) {
        return "nonsense from the linker process";
    }
    if (got == 1 && line[0] != 0)
        log_event(line);
    if (got == 1)
        return NULL;
    bytes_free(reply);
    return got == 0 ? "not linked yet: the linker process had no answer in time"
                    : "the linker process went away before it had answered";
}

/* -- all together ---------------------------------------------------------------------------------- */

static void leave_pending(const struct bytes *request, const unsigned char *key) {
    char path[PATH_SIZE + 96], name[2 * DIGEST + 1];
    if (atomic_fetch_add(&pending, 1) >= PENDING_MOST)
        return;
    hex(key, DIGEST, name);
    snprintf(path, sizeof path, "%s/pending/%s", settings()->cache, name);
    make_folders(path);
    if (access(path, F_OK) != 0 && !write_file(path, request->data, request->size))
        log_event("the cache cannot be written: no request can be left there for next time");
}

void presents(void) { presenting = true; }

/* For how long an answer may be waited for, in ns. */
static uint64_t patience(void) {
    uint64_t most = settings()->wait_ns, left = allowance();
    if (now_ns() < atomic_load(&wait_again) || (presenting && !settings()->wait_presenting))
        return 0;
    return most < left ? most : left;
}

static void note(const char *why) {
    if (why != NULL && strncmp(why, "not linked yet", 14) != 0)
        log_event(why);
}

int ask_send(const struct bytes *request, const unsigned char *key, uint64_t reach_by,
             uint64_t send_by, const char **why) {
    int fd = reach(reach_by, why);
    if (fd < 0) {
        leave_pending(request, key);
    } else if (!send_all(fd, request, send_by)) {
        *why = "the linker process did not take the request";
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        note(*why);
    return fd;
}

const char *ask_receive(int fd, uint64_t deadline, struct bytes *reply) {
    const char *why = receive_answer(fd, reply, deadline);
    note(why);
    return why;
}

static const char *hear(int fd, bool wait, uint64_t deadline, struct bytes *reply) {
    if (!wait)
        return presenting ? "not linked yet: not waited for on a thread that presents"
                          : "not linked yet: not waited for";
    const char *why = ask_receive(fd, deadline, reply);
    if (why == NULL)
        atomic_store(&late_answers, 0);
    else if (left_ms(deadline) == 0 && atomic_fetch_add(&late_answers, 1) + 1 >= PATIENCE) {
        atomic_store(&late_answers, 0);
        atomic_store(&wait_again, now_ns() + NO_WAIT);
    }
    return why;
}

const char *ask(const struct bytes *request, const unsigned char *key, bool wait,
                struct bytes *reply) {
    const char *why = NULL;
    uint64_t begin = now_ns();
    uint64_t longest = wait ? patience() : 0;
    wait = longest > 0;
    wait_begins(begin);
    uint64_t deadline = begin + (wait ? longest : SEND_LIMIT);
    int fd = ask_send(request, key, wait ? deadline : begin, deadline, &why);
    if (fd >= 0) {
        why = hear(fd, wait, deadline, reply);
        close(fd);
    }
    uint64_t now = now_ns();
    wait_ends(now);
    log_add(WAITED_NANOSECONDS, now - begin);
    return why;
}
