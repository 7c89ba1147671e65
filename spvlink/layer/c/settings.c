/* Settings: the environment first, then vk_layer_settings.txt, then the defaults.
 *
 * The setting `wait_ms` is VK_SPVLINK_STAGE_LINK_WAIT_MS in the environment and
 * spvlink_stage_link.wait_ms in the file. docs/layer.md lists them all.
 *
 * BUILT_PYTHON and BUILT_PACKAGE come from config.h, which `spvlink layer install` writes.
 */
#include "layer.h"

#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct settings the_settings;
static struct bytes file; /* vk_layer_settings.txt, ended by a zero */

/* -- the file ------------------------------------------------------------------------------------- */

static bool load(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = read_file(fd, &file, 1 << 20);
    close(fd);
    if (!good)
        bytes_free(&file);
    return good;
}

static void load_file(void) {
    char path[PATH_SIZE];
    const char *named = secure_getenv("VK_LAYER_SETTINGS_PATH");
    if (named != NULL && *named != 0) {
        struct stat status;
        bool folder = stat(named, &status) == 0 && S_ISDIR(status.st_mode);
        snprintf(path, sizeof path, folder ? "%s/vk_layer_settings.txt" : "%s", named);
        load(path);
        return;
    }
    if (load("vk_layer_settings.txt"))
        return;
    const char *data = secure_getenv("XDG_DATA_HOME"), *home = secure_getenv("HOME");
    if (data != NULL && *data == '/')
        snprintf(path, sizeof path, "%s/vulkan/settings.d/vk_layer_settings.txt", data);
    else
        snprintf(path, sizeof path, "%s/.local/share/vulkan/settings.d/vk_layer_settings.txt",
                 home == NULL ? "" : home);
    load(path);
}

/* The value behind `spvlink_stage_link.NAME = ` in the file; false if it is not there. */
static bool from_file(const char *name, char *value, size_t size) {
    static const char prefix[] = "spvlink_stage_link.";
    size_t length = strlen(name);
    for (const char *line = (const char *)file.data; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n\r\t ");
        if (strncmp(line, prefix, sizeof prefix - 1) != 0 ||
            strncmp(line + sizeof prefix - 1, name, length) != 0)
            continue;
        const char *at = line + sizeof prefix - 1 + length;
        at += strspn(at, "\t ");
        if (*at != '=')
            continue;
        at += 1 + strspn(at + 1, "\t \"");
        size_t end = strcspn(at, "\r\n");
        while (end > 0 && strchr(" \t\"", at[end - 1]) != NULL)
            end--;
        if (end >= size)
            return false;
        memcpy(value, at, end);
        value[end] = 0;
        return true;
    }
    return false;
}

static bool text(const char *name, char *value, size_t size) {
    char variable[96] = "VK_SPVLINK_STAGE_LINK_";
    size_t at = strlen(variable);
    for (const char *letter = name; *letter != 0 && at < sizeof variable - 1; letter++)
        variable[at++] = (char)toupper((unsigned char)*letter);
    const char *given = secure_getenv(variable);
    if (given == NULL)
        return from_file(name, value, size);
    return (size_t)snprintf(value, size, "%s", given) < size;
}

static uint64_t number(const char *name, uint64_t fallback, uint64_t most) {
    char value[32], *end;
    if (!text(name, value, sizeof value))
        return fallback;
    errno = 0;
    unsigned long long read = strtoull(value, &end, 10);
    if (errno != 0 || end == value || *end != 0 || *value == '-')
        return fallback;
    return read < most ? read : most;
}

static bool flag(const char *name) {
    char value[16];
    if (!text(name, value, sizeof value))
        return false;
    return strcmp(value, "1") == 0 || strcmp(value, "true") == 0 || strcmp(value, "TRUE") == 0;
}

/* -- folders (spvlink/layer/places.py finds the same) ---------------------------------------------- */

static bool folder(char *path, const char *variable, const char *below_home, const char *rest) {
    const char *base = secure_getenv(variable), *home = secure_getenv("HOME");
    int length;
    if (base != NULL && *base == '/')
        length = snprintf(path, PATH_SIZE, "%s%s", base, rest);
    else if (below_home != NULL && home != NULL && *home == '/')
        length = snprintf(path, PATH_SIZE, "%s%s%s", home, below_home, rest);
    else
        return false;
    return length < PATH_SIZE;
}

/* The socket's folder must be ours alone: nobody else may put a socket there. */
static bool private_folder(char *path) {
    struct stat status;
    size_t length = strlen(path);
    if (length + 2 > PATH_SIZE)
        return false;
    strcpy(path + length, "/");
    make_folders(path);
    path[length] = 0;
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 077) == 0;
}

static void find_socket(struct settings *s) {
    unsigned char digest[8];
    char name[17];
    struct bytes words = {0};
    put(&words, s->identity, sizeof s->identity);
    put(&words, s->cache, strlen(s->cache));
    blake2b(words.data, words.size, digest, sizeof digest);
    bytes_free(&words);
    hex(digest, sizeof digest, name);
    int length = snprintf(s->socket, sizeof s->socket, "%s/%s.socket", s->runtime, name);
    if (length >= 108) /* sizeof sockaddr_un.sun_path */
        s->socket[0] = 0;
}

/* -- which linker ---------------------------------------------------------------------------------- */

/* Adds up a digest of the name, size and time of every .py file: their order does not matter. */
static bool walk(const char *path, size_t base, uint64_t sum[2]) {
    DIR *list = opendir(path);
    if (list == NULL)
        return false;
    for (struct dirent *item; (item = readdir(list)) != NULL;) {
        char below[PATH_SIZE], line[PATH_SIZE + 64];
        struct stat status;
        size_t length = strlen(item->d_name);
        if (item->d_name[0] == '.' || strcmp(item->d_name, "__pycache__") == 0 ||
            snprintf(below, sizeof below, "%s/%s", path, item->d_name) >= (int)sizeof below ||
            stat(below, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode)) {
            walk(below, base, sum);
        } else if (length > 3 && strcmp(item->d_name + length - 3, ".py") == 0) {
            uint64_t digest[2];
            int size = snprintf(line, sizeof line, "%s %lld %lld.%09ld", below + base,
                                (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                                status.st_mtim.tv_nsec);
            blake2b(line, (size_t)size, (unsigned char *)digest, sizeof digest);
            sum[0] += digest[0];
            sum[1] += digest[1];
        }
    }
    closedir(list);
    return true;
}

bool identify(const char *package, unsigned char identity[16]) {
    uint64_t sum[2] = {0, 0};
    bool good = walk(package, strlen(package) + 1, sum);
    memcpy(identity, sum, sizeof sum);
    return good;
}

/* -- all together ---------------------------------------------------------------------------------- */

static void read_settings(void) {
    struct settings *s = &the_settings;
    load_file();
    s->exact = flag("exact");
    s->wait_ns = number("wait_ms", 1000, 3600000) * 1000000;
    s->wait_total_ns = number("wait_total_ms", 30000, 86400000) * 1000000;
    s->cache_mb = (uint32_t)number("cache_mb", 256, 1 << 20);
    s->idle_s = (uint32_t)number("idle_s", 60, 86400);
    if (flag("never_wait"))
        s->wait_ns = 0;
    if (!text("log", s->log, sizeof s->log))
        s->log[0] = 0;
    if (!text("python", s->python, sizeof s->python))
        snprintf(s->python, sizeof s->python, "%s", BUILT_PYTHON);
    if (!folder(s->state, "XDG_STATE_HOME", "/.local/state", "/spvlink"))
        s->state[0] = 0;
    bool cache = text("cache_dir", s->cache, sizeof s->cache) && s->cache[0] == '/';
    if (!cache)
        cache = folder(s->cache, "XDG_CACHE_HOME", "/.cache", "/spvlink/linked");
    if (!folder(s->runtime, "XDG_RUNTIME_DIR", NULL, "/spvlink"))
        snprintf(s->runtime, sizeof s->runtime, "/tmp/spvlink-%ld", (long)geteuid());
    identify(BUILT_PACKAGE, s->identity); /* gone: only what is in the cache for it can be used */
    bool runtime = private_folder(s->runtime);
    if (runtime)
        find_socket(s);
    bytes_free(&file);
    s->usable = cache && runtime && s->socket[0] != 0;
}

const struct settings *settings(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
    return &the_settings;
}
