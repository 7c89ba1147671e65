/* Answers: linked modules, or why there are none; the same bytes in the cache and on the socket.
 *
 *     "SPVLINK1", key, status, 4 figures, stage count, length of the reason (of half a pipeline:
 *     the name of the interface that it is linked against),
 *     (stage bit, bytes) of every stage, reason padded to 4 bytes, the modules,
 *     16 bytes of BLAKE2b-128 over all before
 *
 * Python writes them (spvlink/layer/wire.py); this file believes nothing that it reads.
 */
#include "core.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "SPVLINK1"
#define SEAL 16
#define SPIRV_MAGIC 0x07230203u
#define DAY 86400

struct head {
    char magic[8];
    unsigned char key[DIGEST];
    uint32_t status, figures[4], stages, reason;
};

static bool sealed(const struct bytes *from, const unsigned char *key) {
    unsigned char seal[SEAL];
    if (from->size < sizeof(struct head) + SEAL || memcmp(from->data, MAGIC, 8) != 0 ||
        memcmp(from->data + 8, key, DIGEST) != 0)
        return false;
    blake2b(from->data, from->size - SEAL, seal, SEAL);
    return memcmp(from->data + from->size - SEAL, seal, SEAL) == 0;
}

/* Whether `answer->from` is an answer for this chain; then the rest of it is filled in. */
bool answer_read(struct answer *answer, const struct chain *chain, const unsigned char *key) {
    struct head head;
    if (!sealed(&answer->from, key))
        return false;
    memcpy(&head, answer->from.data, sizeof head);
    size_t at = sizeof head, left = answer->from.size - SEAL - at;
    bool linked = head.status == (chain->half ? STATUS_FROZEN : STATUS_LINKED);
    if (chain->half && (!linked || head.reason != INTERFACE))
        return false;
    if (head.stages != (linked ? chain->count : 0) || head.reason >= left || head.status < 1 ||
        (!linked && head.status > STATUS_NOTHING_TO_GAIN))
        return false;
    size_t reason = (head.reason / 4 + 1) * 4; /* at least one zero at its end */
    if (head.stages * 8 + reason > left)
        return false;
    left -= head.stages * 8 + reason;
    const unsigned char *code = answer->from.data + at + head.stages * 8 + reason;
    for (uint32_t i = 0; i < head.stages; i++, at += 8) {
        uint32_t pair[2], first;
        memcpy(pair, answer->from.data + at, sizeof pair);
        if (pair[0] != (uint32_t)chain->stages[i].bit || pair[1] < 20 || pair[1] % 4 != 0 ||
            pair[1] > left)
            return false;
        memcpy(&first, code, sizeof first);
        if (first != SPIRV_MAGIC)
            return false;
        answer->code[i] = (const uint32_t *)(const void *)code; /* every length is whole words */
        answer->size[i] = pair[1];
        code += pair[1];
        left -= pair[1];
    }
    if (left != 0 || answer->from.data[at + head.reason] != 0)
        return false;
    answer->reason = (const char *)answer->from.data + at;
    answer->status = (enum status)head.status;
    memcpy(answer->figures, head.figures, sizeof head.figures);
    return true;
}

static void path_of(char path[PATH_SIZE + 80], const unsigned char *key) {
    char name[2 * DIGEST + 1];
    hex(key, DIGEST, name);
    snprintf(path, PATH_SIZE + 80, "%s/%.2s/%s", settings()->cache, name, name + 2);
}

bool answer_there(const unsigned char *key) {
    char path[PATH_SIZE + 80];
    path_of(path, key);
    return access(path, F_OK) == 0;
}

bool answer_cached(struct answer *answer, const struct chain *chain, const unsigned char *key) {
    char path[PATH_SIZE + 80];
    struct stat status;
    path_of(path, key);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool good = read_file(fd, &answer->from, MAX_FILE) && answer_read(answer, chain, key);
    if (!good) {
        unlink(path);
        log_event("a damaged file in the cache; it was removed");
        bytes_free(&answer->from);
    } else if (fstat(fd, &status) == 0 && time(NULL) - status.st_mtime > DAY) {
        futimens(fd, NULL); /* what is used stays young: the oldest files go first */
    }
    close(fd);
    return good;
}

void answer_free(struct answer *answer) {
    bytes_free(&answer->from);
    *answer = (struct answer){0};
}
