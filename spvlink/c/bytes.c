/* A growing buffer, BLAKE2b (RFC 7693), files that are complete or absent, and the clock. */
#include "core.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

void put(struct bytes *to, const void *data, size_t size) {
    if (to->failed || size == 0)
        return;
    if (to->room - to->size < size) {
        size_t room = (to->size + size) * 2 + 256;
        void *grown = realloc(to->data, room);
        if (grown == NULL) {
            to->failed = true;
            return;
        }
        to->data = grown;
        to->room = room;
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
}

void put_u32(struct bytes *to, uint32_t value) { put(to, &value, sizeof value); }

void put_padded(struct bytes *to, const void *data, size_t size) {
    put(to, data, size);
    put(to, "\0\0\0", (4 - size % 4) % 4);
}

void bytes_free(struct bytes *of) {
    free(of->data);
    *of = (struct bytes){0};
}

/* -- BLAKE2b -------------------------------------------------------------------------------------- */

static const uint64_t START[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};
/* Which message word each of the sixteen places of a round takes; rounds 10 and 11 repeat 0, 1. */
static const unsigned char ORDER[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t turn(uint64_t value, int bits) {
    return value >> bits | value << (64 - bits);
}

static inline __attribute__((always_inline)) void mix(uint64_t *v, int a, int b, int c, int d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = turn(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = turn(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = turn(v[b] ^ v[c], 63);
}

/* Written out, so that the compiler sees which words are where: twice as fast. */
#define ROUND(s)                                                                                   \
    mix(v, 0, 4, 8, 12, m[(s)[0]], m[(s)[1]]), mix(v, 1, 5, 9, 13, m[(s)[2]], m[(s)[3]]),          \
    mix(v, 2, 6, 10, 14, m[(s)[4]], m[(s)[5]]), mix(v, 3, 7, 11, 15, m[(s)[6]], m[(s)[7]]),        \
    mix(v, 0, 5, 10, 15, m[(s)[8]], m[(s)[9]]), mix(v, 1, 6, 11, 12, m[(s)[10]], m[(s)[11]]),      \
    mix(v, 2, 7, 8, 13, m[(s)[12]], m[(s)[13]]), mix(v, 3, 4, 9, 14, m[(s)[14]], m[(s)[15]])

static void compress(uint64_t *h, const unsigned char *block, uint64_t total, bool last) {
    uint64_t v[16], m[16];
    memcpy(m, block, sizeof m); /* little endian, as every machine this layer is built for */
    memcpy(v, h, 8 * sizeof *h);
    memcpy(v + 8, START, sizeof START);
    v[12] ^= total;
    v[14] ^= last ? ~UINT64_C(0) : 0;
    ROUND(ORDER[0]), ROUND(ORDER[1]), ROUND(ORDER[2]), ROUND(ORDER[3]), ROUND(ORDER[4]);
    ROUND(ORDER[5]), ROUND(ORDER[6]), ROUND(ORDER[7]), ROUND(ORDER[8]), ROUND(ORDER[9]);
    ROUND(ORDER[0]), ROUND(ORDER[1]);
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
}

void blake2b(const void *data, size_t size, unsigned char *out, size_t out_size) {
    const unsigned char *at = data;
    uint64_t h[8], total = 0;
    memcpy(h, START, sizeof h);
    h[0] ^= 0x01010000 ^ out_size;
    while (size > 128) {
        total += 128;
        compress(h, at, total, false);
        at += 128;
        size -= 128;
    }
    unsigned char block[128] = {0};
    if (size > 0)
        memcpy(block, at, size);
    compress(h, block, total + size, true);
    memcpy(out, h, out_size);
}

void hex(const unsigned char *data, size_t size, char *out) {
    for (size_t i = 0; i < size; i++) {
        *out++ = "0123456789abcdef"[data[i] >> 4];
        *out++ = "0123456789abcdef"[data[i] & 15];
    }
    *out = 0;
}

/* -- files ---------------------------------------------------------------------------------------- */

bool read_file(int fd, struct bytes *into, size_t limit) {
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < 0 ||
        (uint64_t)status.st_size > limit)
        return false;
    size_t size = (size_t)status.st_size;
    into->data = malloc(size + 1); /* one more, so that text can be ended by a zero */
    if (into->data == NULL)
        return false;
    into->room = size + 1;
    while (into->size < size) {
        ssize_t got = read(fd, into->data + into->size, size - into->size);
        if (got <= 0)
            break;
        into->size += (size_t)got;
    }
    into->data[into->size] = 0;
    return into->size == size;
}

void make_folders(char *path) {
    for (char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        if (slash == path)
            continue;
        *slash = 0;
        mkdir(path, 0700); /* may be there already; if not, opening what is inside will fail */
        *slash = '/';
    }
}

/* Whether a file may grow to so many bytes: what goes over `ulimit -f` ends the whole process. */
bool may_grow(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           size <= limit.rlim_cur;
}

bool write_file(const char *path, const void *data, size_t size) {
    static atomic_uint serial;
    char temp[PATH_SIZE + 64];
    snprintf(temp, sizeof temp, "%s.%ld.%u.new", path, (long)getpid(), atomic_fetch_add(&serial, 1));
    int fd = may_grow(size) ? open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return false;
    const unsigned char *at = data;
    bool good = true;
    while (good && size > 0) {
        ssize_t wrote = write(fd, at, size);
        good = wrote > 0;
        if (good) {
            at += wrote;
            size -= (size_t)wrote;
        }
    }
    good = close(fd) == 0 && good && rename(temp, path) == 0;
    if (!good)
        unlink(temp);
    return good;
}

uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
