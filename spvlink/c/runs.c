/* Files of numbers: one for each process, in the folder layer-runs, and layer-total with those of
 * processes that have ended long ago. spvlink/layer/log.py reads them; the layout is struct run.
 *
 * A file is written by plain writes, opened by its name each time. A mapped one would end the
 * application with SIGBUS when a disk that copies on write is full, and a descriptor that stays
 * open may stand for another file after the application has closed what it did not know.
 */
#include "core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define KEPT 16  /* files of processes that have ended, before some go into the total */
#define AT_ONCE 8 /* so many of them at a time */
#define FOLDED "folded " /* in the total: a file that is in it, and may be there still */

/* The file of this process. Its lock says that the process lives. */
static char own[PATH_SIZE + 64];
static int64_t own_pid;

static bool write_at(int fd, const struct run *from) {
    const struct sum *end = from->sums;
    while (end < from->sums + SUMS && end->text[0] != 0)
        end++;
    size_t size = (size_t)((const char *)end - (const char *)from);
    return pwrite(fd, from, size, 0) == (ssize_t)size;
}

static bool run_read(const char *path, struct run *into) {
    struct bytes from = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool good = fd >= 0 && read_file(fd, &from, sizeof *into) && from.size == sizeof *into &&
                memcmp(from.data, RUN_MAGIC, 8) == 0;
    if (good) {
        memcpy(into, from.data, sizeof *into);
        for (int i = 0; i < SUMS; i++)
            into->sums[i].text[TEXT_SIZE - 1] = 0;
    }
    if (fd >= 0)
        close(fd);
    bytes_free(&from);
    return good;
}

void run_add(struct run *to, const char *text, uint64_t value) {
    struct sum *at = to->sums, *end = at + SUMS;
    for (; at < end && at->text[0] != 0; at++) {
        if (strncmp(at->text, text, TEXT_SIZE - 1) == 0) {
            at->value += value;
            return;
        }
    }
    if (end - at <= 2) { /* two places stay for what has no place any more: one of each kind */
        char other[32];
        snprintf(other, sizeof other, "%.*s other", (int)strcspn(text, " "), text);
        if (strcmp(text, other) != 0) {
            run_add(to, other, value);
            return;
        }
    }
    if (at == end)
        return;
    at->value = value;
    snprintf(at->text, TEXT_SIZE, "%s", text);
}

/* -- what has ended goes into the total ------------------------------------------------------------ */

/* A number is taken by another process now and then: such a file waits. In another container the
 * number says nothing, and the lock does. */
static bool has_ended(const char *path, const char *name) {
    long pid = strtol(name, NULL, 10);
    if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool ended = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (fd >= 0)
        close(fd);
    return ended;
}

static void path_of(char *path, const char *name) {
    snprintf(path, PATH_SIZE + 300, "%s/layer-runs/%.255s", settings()->state, name);
}

/* What an earlier process has added, and did not come to remove. */
static void remove_folded(struct run *total) {
    char path[PATH_SIZE + 300];
    struct sum *to = total->sums;
    for (int i = 0; i < SUMS; i++) {
        struct sum one = total->sums[i];
        total->sums[i] = (struct sum){0};
        if (strncmp(one.text, FOLDED, sizeof FOLDED - 1) != 0) {
            *to++ = one;
        } else if (strchr(one.text, '/') == NULL) {
            path_of(path, one.text + sizeof FOLDED - 1);
            unlink(path);
        }
    }
}

static void add_run(struct run *total, const struct run *one, const char *name) {
    char text[TEXT_SIZE];
    for (int i = 0; i < SUMS && one->sums[i].text[0] != 0; i++)
        run_add(total, one->sums[i].text, one->sums[i].value);
    snprintf(text, sizeof text, FOLDED "%.60s", name);
    run_add(total, text, 1);
}

/* Names of files to add: of ended processes, all but KEPT. */
static unsigned ended_runs(char names[AT_ONCE][64]) {
    char path[PATH_SIZE + 300];
    unsigned all = 0, found = 0;
    snprintf(path, sizeof path, "%s/layer-runs", settings()->state);
    DIR *list = opendir(path);
    for (struct dirent *item; list != NULL && (item = readdir(list)) != NULL;)
        all += item->d_name[0] != '.';
    if (all > KEPT) {
        rewinddir(list);
        for (struct dirent *item; found < AT_ONCE && (item = readdir(list)) != NULL;) {
            path_of(path, item->d_name);
            if (item->d_name[0] != '.' && strlen(item->d_name) < 60 &&
                has_ended(path, item->d_name))
                strcpy(names[found++], item->d_name);
        }
    }
    if (list != NULL)
        closedir(list);
    return found;
}

static void fold(void) {
    static struct run total, one;
    char names[AT_ONCE][64], path[PATH_SIZE + 300], target[PATH_SIZE + 32];
    unsigned count = ended_runs(names);
    if (count == 0)
        return;
    snprintf(target, sizeof target, "%s/layer-total", settings()->state);
    if (!run_read(target, &total)) {
        memset(&total, 0, sizeof total);
        memcpy(total.magic, RUN_MAGIC, sizeof total.magic);
    }
    remove_folded(&total);
    for (unsigned i = 0; i < count; i++) {
        path_of(path, names[i]);
        if (run_read(path, &one)) /* not: a process that was killed while it made the file */
            add_run(&total, &one, names[i]);
    }
    if (write_file(target, &total, sizeof total))
        for (unsigned i = 0; i < count; i++) {
            path_of(path, names[i]);
            unlink(path);
        }
}

/* -- this process ---------------------------------------------------------------------------------- */

/* The file as a whole, so that later writes need no more of the disk. */
static bool make_file(const struct run *from) {
    char path[PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/layer-lock", settings()->state);
    make_folders(path);
    int lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
        fold(); /* else the next one does */
    if (lock >= 0)
        close(lock);
    snprintf(own, sizeof own, "%s/layer-runs/%lld-%lld", settings()->state, (long long)from->pid,
             (long long)from->touched);
    make_folders(own);
    if (!may_grow(sizeof *from))
        return false;
    int fd = open(own, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    flock(fd, LOCK_EX | LOCK_NB); /* it stays open for this, and nobody writes through it later */
    if (write(fd, from, sizeof *from) == (ssize_t)sizeof *from)
        return true;
    unlink(own);
    close(fd);
    return false;
}

void run_write(const struct run *from) {
    if (own_pid != from->pid) { /* also of a fork */
        own_pid = from->pid;
        if (!make_file(from))
            own[0] = 0;
        return;
    }
    int fd = own[0] == 0 ? -1 : open(own, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    write_at(fd, from);
    close(fd);
}
