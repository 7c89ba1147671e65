/* What handles stand for: counted blobs, and tables from handles to them. */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    struct entry *next;
    uint64_t handle;
    unsigned uses; /* a driver may give one handle for equal objects, and take as many destroys */
    struct blob *blob;
};

struct table {
    pthread_mutex_t mutex;
    size_t room, count;
    struct entry **slots; /* room is a power of two */
};

struct blob *blob_new(const void *data, size_t size) {
    struct blob *blob = malloc(sizeof *blob + size);
    if (blob == NULL)
        return NULL;
    atomic_init(&blob->holds, 1);
    blob->opaque = false;
    blob->declared = NULL;
    blob->size = size;
    if (size > 0)
        memcpy(blob->data, data, size);
    blake2b(data, size, blob->digest, DIGEST);
    return blob;
}

struct blob *blob_code(const void *data, size_t size) {
    struct blob *blob = blob_new(data, size);
    if (blob != NULL)
        blob->declared = declared_new(blob->data, size);
    return blob;
}

void blob_drop(struct blob *blob) {
    if (blob != NULL && atomic_fetch_sub(&blob->holds, 1) == 1) {
        free(blob->declared);
        free(blob);
    }
}

struct table *table_new(void) {
    struct table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return NULL;
    table->room = 64;
    table->slots = calloc(table->room, sizeof *table->slots);
    if (table->slots == NULL) {
        free(table);
        return NULL;
    }
    pthread_mutex_init(&table->mutex, NULL);
    return table;
}

void table_free(struct table *table) {
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->room; i++) {
        for (struct entry *entry = table->slots[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            blob_drop(entry->blob);
            free(entry);
        }
    }
    pthread_mutex_destroy(&table->mutex);
    free(table->slots);
    free(table);
}

static struct entry **place(struct table *table, uint64_t handle) {
    uint64_t mixed = handle * UINT64_C(0x9e3779b97f4a7c15); /* handles are addresses or counters */
    struct entry **at = &table->slots[mixed >> 32 & (table->room - 1)];
    while (*at != NULL && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

static void grow(struct table *table) {
    struct entry **old = table->slots;
    size_t old_room = table->room;
    struct entry **slots = calloc(old_room * 2, sizeof *slots);
    if (slots == NULL)
        return; /* longer lists are slower, and no more than that */
    table->slots = slots;
    table->room = old_room * 2;
    for (size_t i = 0; i < old_room; i++) {
        for (struct entry *entry = old[i], *next; entry != NULL; entry = next) {
            next = entry->next;
            entry->next = NULL;
            *place(table, entry->handle) = entry;
        }
    }
    free(old);
}

void table_put(struct table *table, uint64_t handle, struct blob *blob) {
    if (blob == NULL)
        return;
    pthread_mutex_lock(&table->mutex);
    if (table->count > table->room)
        grow(table);
    struct entry **at = place(table, handle);
    struct blob *old = NULL;
    if (*at != NULL) {
        old = (*at)->blob;
        (*at)->uses++; /* and if they are not equal after all, then nothing is known of either */
        blob->opaque |= old->opaque || memcmp(old->digest, blob->digest, DIGEST) != 0;
        (*at)->blob = blob;
    } else {
        struct entry *entry = malloc(sizeof *entry);
        if (entry == NULL) {
            old = blob; /* the handle stays unknown, and what uses it untouched */
        } else {
            *entry = (struct entry){NULL, handle, 1, blob};
            *at = entry;
            table->count++;
        }
    }
    pthread_mutex_unlock(&table->mutex);
    blob_drop(old);
}

struct blob *table_find(struct table *table, uint64_t handle) {
    pthread_mutex_lock(&table->mutex);
    struct entry *entry = *place(table, handle);
    struct blob *blob = entry == NULL ? NULL : entry->blob;
    if (blob != NULL)
        atomic_fetch_add(&blob->holds, 1);
    pthread_mutex_unlock(&table->mutex);
    return blob;
}

struct blob *table_take(struct table *table, uint64_t handle) {
    struct entry *gone = NULL;
    struct blob *blob = NULL;
    pthread_mutex_lock(&table->mutex);
    struct entry **at = place(table, handle);
    if (*at != NULL && --(*at)->uses == 0) {
        gone = *at;
        *at = gone->next;
        table->count--;
    }
    pthread_mutex_unlock(&table->mutex);
    if (gone != NULL)
        blob = gone->blob;
    free(gone);
    return blob;
}

void table_remove(struct table *table, uint64_t handle) { blob_drop(table_take(table, handle)); }
