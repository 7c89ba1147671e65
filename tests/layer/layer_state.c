/* What a link of modules may ask for of a state, as C has it: for tests/layer/test_layer_facts.py.
 *
 * usage: layer_state MODULES; reads lines of numbers: discards, one sample, view mask, culled, polygons,
 * topology, viewports, control points, alpha to coverage, count of attachments (-1: not known), ten
 * numbers each (format, write mask, Location, blends, factors, operations), count of attributes, Location
 * and format each, count of modules, the number of each. Prints the words of each line. MODULES is a file
 * of paths, one a line.
 */
#include "core.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 1024, MOST = 8 };

const struct host host = {"test", "TEST_", NULL};

static uint32_t number(void) {
    long long value;
    if (scanf("%lld", &value) != 1)
        exit(0);
    return (uint32_t)value;
}

static void take(struct state *state) {
    struct attachment made[MOST];
    uint32_t first[9];
    state_unknown(state);
    for (int i = 0; i < 9; i++)
        first[i] = number();
    state->discards = first[0], state->one_sample = first[1], state->view_mask = first[2];
    state->culled = first[3], state->polygons = first[4];
    state->topology = topology_class(first[5]);
    state->viewports = first[6], state->patch_points = first[7];
    uint32_t count = number();
    for (uint32_t i = 0; count != STATE_UNKNOWN && i < count; i++) {
        made[i].mask = format_components(number());
        made[i].mask &= number();
        made[i].location = number();
        made[i].blends = number();
        for (int n = 0; n < 4; n++)
            made[i].factors[n] = number();
        made[i].operations[0] = number();
        made[i].operations[1] = number();
    }
    if (count != STATE_UNKNOWN)
        state_outputs(state, count, made, first[8]);
    count = number();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t location = number();
        state_attribute(state, location, number());
    }
}

int main(int count, char **words) {
    static struct declared *modules[ROOM];
    char path[1024];
    FILE *list = count == 2 ? fopen(words[1], "r") : NULL;
    for (int i = 0; list != NULL && i < ROOM && fgets(path, sizeof path, list) != NULL; i++) {
        struct bytes code = {0};
        path[strcspn(path, "\n")] = 0;
        int fd = open(path, O_RDONLY);
        if (fd < 0 || !read_file(fd, &code, MAX_FILE))
            return 2;
        close(fd);
        modules[i] = declared_new(code.data, code.size);
        bytes_free(&code);
    }
    while (list != NULL) {
        const struct declared *found[MOST];
        struct state state, used;
        struct bytes facts = {0};
        take(&state);
        uint32_t stages = number();
        for (uint32_t i = 0; i < stages; i++)
            found[i] = modules[number()];
        state_used(&state, found, stages, &used);
        state_put(&facts, &used);
        for (size_t i = 0; i < facts.size; i += 4) {
            uint32_t word;
            memcpy(&word, facts.data + i, sizeof word);
            printf("%u ", word);
        }
        printf("\n");
        bytes_free(&facts);
    }
    return 2;
}
