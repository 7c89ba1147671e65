/* Settings: the environment first, then vk_layer_settings.txt, then what the program gives, then the
 * defaults.
 *
 * For the layer, the setting `wait_ms` is VK_SPVLINK_STAGE_LINK_WAIT_MS in the environment,
 * spvlink_stage_link.wait_ms in the file, and "wait_ms" from the program (VK_EXT_layer_settings).
 * docs/reference/layer.md lists them all.
 *
 * BUILT_PYTHON and BUILT_PACKAGE come from config.h, which `spvlink layer install` writes.
 */
#include "core.h"

#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_CODE (256u << 20) /* bytes of a file of code: a guard against nonsense */

static struct settings the_settings;
static struct bytes file; /* vk_layer_settings.txt, ended by a zero */
static struct bytes given; /* by the application: name, zero, value, zero; the last one counts */
static bool too_late;      /* the settings have been read */
static pthread_mutex_t given_lock = PTHREAD_MUTEX_INITIALIZER; /* both */

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
    const char *prefix = host.file;
    size_t length = strlen(name), start = prefix == NULL ? 0 : strlen(prefix);
    for (const char *line = (const char *)file.data; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n\r\t ");
        if (strncmp(line, prefix, start) != 0 ||
            strncmp(line + start, name, length) != 0)
            continue;
        const char *at = line + start + length;
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

/* -- the application ------------------------------------------------------------------------------ */

bool settings_give(const char *name, const char *value) {
    pthread_mutex_lock(&given_lock);
    bool in_time = !too_late;
    if (in_time) {
        put(&given, name, strlen(name) + 1);
        put(&given, value, strlen(value) + 1);
        if (given.failed)
            bytes_free(&given); /* half of one would be worse than none */
    }
    pthread_mutex_unlock(&given_lock);
    return in_time;
}

static bool from_application(const char *name, char *value, size_t size) {
    const char *found = NULL, *at = (const char *)given.data;
    const char *end = at + given.size;
    while (at != end) {
        const char *its = at + strlen(at) + 1;
        if (strcmp(at, name) == 0)
            found = its;
        at = its + strlen(its) + 1;
    }
    return found != NULL && (size_t)snprintf(value, size, "%s", found) < size;
}

/* -- one setting ---------------------------------------------------------------------------------- */

static bool text(const char *name, char *value, size_t size) {
    char variable[96];
    size_t at = (size_t)snprintf(variable, sizeof variable, "%s", host.variable);
    for (const char *letter = name; *letter != 0 && at < sizeof variable - 1; letter++)
        variable[at++] = (char)toupper((unsigned char)*letter);
    variable[at] = 0;
    const char *set = secure_getenv(variable);
    if (set == NULL)
        return from_file(name, value, size) || from_application(name, value, size);
    return (size_t)snprintf(value, size, "%s", set) < size;
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
static bool private_folder(const char *path) {
    struct stat status;
    mkdir(path, 0700);
    return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
           (status.st_mode & 077) == 0;
}

static bool find_socket(struct settings *s) {
    unsigned char digest[8];
    char name[17];
    if (!private_folder(s->runtime))
        return false;
    struct bytes words = {0};
    put(&words, s->identity, sizeof s->identity);
    put(&words, s->cache, strlen(s->cache));
    blake2b(words.data, words.size, digest, sizeof digest);
    bytes_free(&words);
    hex(digest, sizeof digest, name);
    int length = snprintf(s->socket, sizeof s->socket, "%s/%s.socket", s->runtime, name);
    return length < 108; /* sizeof sockaddr_un.sun_path */
}

/* -- which linker ---------------------------------------------------------------------------------- */

static bool is_code(const char *name) {
    size_t length = strlen(name);
    return length > 3 && (strcmp(name + length - 3, ".py") == 0 || strcmp(name + length - 3, ".so") == 0);
}

/* Adds a digest of a file's name and content: the order of files does not matter. */
static bool add_file(uint64_t sum[2], const char *path, const char *name) {
    char line[PATH_SIZE + 64], digits[33];
    unsigned char content[16];
    uint64_t digest[2];
    struct bytes data = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && read_file(fd, &data, MAX_CODE);
    if (fd >= 0)
        close(fd);
    if (good) {
        blake2b(data.data, data.size, content, sizeof content);
        hex(content, sizeof content, digits);
        int size = snprintf(line, sizeof line, "%s %s", name, digits);
        blake2b(line, (size_t)size, (unsigned char *)digest, sizeof digest);
        sum[0] += digest[0];
        sum[1] += digest[1];
    }
    bytes_free(&data);
    return good;
}

/* Every .py and .so file. */
static bool walk(const char *path, size_t base, uint64_t sum[2]) {
    DIR *list = opendir(path);
    if (list == NULL)
        return false;
    for (struct dirent *item; (item = readdir(list)) != NULL;) {
        char below[PATH_SIZE];
        struct stat status;
        if (item->d_name[0] == '.' || strcmp(item->d_name, "__pycache__") == 0 ||
            snprintf(below, sizeof below, "%s/%s", path, item->d_name) >= (int)sizeof below ||
            stat(below, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode))
            walk(below, base, sum);
        else if (is_code(item->d_name))
            add_file(sum, below, below + base);
    }
    closedir(list);
    return true;
}

/* The folder of spirv-val, links followed, as PATH has it. */
static bool find_validator(char *folder) {
    const char *path = secure_getenv("PATH"), *end;
    for (const char *at = path != NULL ? path : "/bin:/usr/bin"; at != NULL; at = end) {
        char program[PATH_SIZE], real[PATH_MAX];
        struct stat status;
        size_t length = strcspn(at, ":");
        end = at[length] == ':' ? at + length + 1 : NULL;
        if (snprintf(program, sizeof program, "%.*s%sspirv-val", (int)length, at,
                     length > 0 ? "/" : "") >= (int)sizeof program ||
            stat(program, &status) != 0 || !S_ISREG(status.st_mode) || access(program, X_OK) != 0)
            continue;
        if (realpath(program, real) == NULL || strlen(real) >= PATH_SIZE)
            return false;
        *strrchr(real, '/') = 0;
        memcpy(folder, real, strlen(real) + 1);
        return true;
    }
    return false;
}

/* Which spirv-val: its content, and that of the library that it may be a small program on. Where it
 * is not in PATH (in a container), the one that a linker process noted beside the cache. */
static void add_validator(const char *cache, uint64_t sum[2]) {
    static const char *const FILES[] = {
        "spirv-val", "../lib/libSPIRV-Tools.so", "../lib/libSPIRV-Tools-shared.so",
        "../lib64/libSPIRV-Tools.so", "../lib64/libSPIRV-Tools-shared.so",
    };
    char folder[PATH_SIZE], path[2 * PATH_SIZE];
    struct bytes note = {0};
    if (find_validator(folder)) {
        for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
            snprintf(path, sizeof path, "%s/%s", folder, FILES[i]);
            add_file(sum, path, FILES[i]);
        }
        return;
    }
    snprintf(path, sizeof path, "%s/validator", cache);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && read_file(fd, &note, 16) && note.size == 16) {
        uint64_t noted[2];
        memcpy(noted, note.data, sizeof noted);
        sum[0] += noted[0];
        sum[1] += noted[1];
    }
    if (fd >= 0)
        close(fd);
    bytes_free(&note);
}

bool identify(const char *package, const char *cache, unsigned char identity[16]) {
    uint64_t sum[2] = {0, 0};
    bool good = walk(package, strlen(package) + 1, sum);
    add_validator(cache, sum);
    memcpy(identity, sum, sizeof sum);
    return good;
}

/* -- all together ---------------------------------------------------------------------------------- */

/* Holds `given_lock`. */
static bool read_plain(struct settings *s) {
    s->exact = flag("exact");
    s->wait_ns = number("wait_ms", 100, 3600000) * 1000000;
    s->wait_total_ns = number("wait_total_ms", 30000, 86400000) * 1000000;
    char given_wait[32]; /* who says how long wants to wait */
    uint32_t percent = text("wait_ms", given_wait, sizeof given_wait) ? 100 : 10;
    s->wait_percent = (uint32_t)number("wait_percent", percent, 100);
    char given[32];
    s->wait_presenting =
        text("wait_presenting", given, sizeof given) ? flag("wait_presenting") : percent == 100;
    s->cache_mb = (uint32_t)number("cache_mb", 256, 1 << 20);
    s->memory_mb = (uint32_t)number("memory_mb", 64, 1 << 20);
    s->idle_s = (uint32_t)number("idle_s", 60, 86400);
    if (flag("never_wait"))
        s->wait_ns = 0;
    if (!text("log", s->log, sizeof s->log))
        s->log[0] = 0;
    if (!text("python", s->python, sizeof s->python))
        snprintf(s->python, sizeof s->python, "%s", BUILT_PYTHON);
    if (!text("package", s->package, sizeof s->package))
        snprintf(s->package, sizeof s->package, "%s", BUILT_PACKAGE);
    bool cache = text("cache_dir", s->cache, sizeof s->cache) && s->cache[0] == '/';
    return cache || folder(s->cache, "XDG_CACHE_HOME", "/.cache", "/spvlink/linked");
}

/* A runtime folder that is not ours alone, or too deep for a socket, is passed over. */
static void read_settings(void) {
    struct settings *s = &the_settings;
    if (host.file != NULL)
        load_file();
    pthread_mutex_lock(&given_lock);
    s->usable = read_plain(s);
    bytes_free(&given);
    too_late = true;
    pthread_mutex_unlock(&given_lock);
    bytes_free(&file);
    if (!folder(s->state, "XDG_STATE_HOME", "/.local/state", "/spvlink"))
        s->state[0] = 0;
    /* gone: only what is in the cache for it can be used */
    identify(s->package, s->usable ? s->cache : "", s->identity);
    if (!folder(s->runtime, "XDG_RUNTIME_DIR", NULL, "/spvlink") || !find_socket(s)) {
        snprintf(s->runtime, sizeof s->runtime, "/tmp/spvlink-%ld", (long)geteuid());
        if (!find_socket(s))
            s->socket[0] = 0;
    }
}

const struct settings *settings(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_settings);
    return &the_settings;
}
