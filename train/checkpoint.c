/* checkpoint: bytes <-> runs, as checkpoint.h lays them out. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "checkpoint.h"
#include "little.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'L', 'E', 'G', 'O', 'T', 'R', 'A', 'I'};
enum { VERSION = 6, HEAD = 24, TAIL = 8 };

static uint64_t size_of(const struct net *net)
{
    return CHECKPOINT_PARAMETERS + 16 * (uint64_t)net->parameters + 8 * (uint64_t)net->statistics + TAIL;
}

/* Where the next field is, and which way it goes. Reading and writing are the same list of fields, so they agree. */
struct cursor {
    unsigned char *at;
    bool write;
    bool exact; /* no field has bits that its type does not */
};

static void pass(struct cursor *cursor, void *values, size_t width, size_t n)
{
    if (cursor->write) little(cursor->at, values, width, n);
    else little(values, cursor->at, width, n);
    cursor->at += width * n;
}

static void pass_run(struct cursor *c, const struct net *net, struct run *run)
{
    struct state *s = &run->state;
    for (const struct recipe_field *field = recipe_fields; field < recipe_fields + RECIPE_FIELDS; field++) {
        uint64_t bits = recipe_bits(&run->recipe, field);
        pass(c, &bits, sizeof bits, 1);
        if (!c->write) recipe_set_bits(&run->recipe, field, bits);
        c->exact = c->exact && recipe_bits(&run->recipe, field) == bits;
    }
    pass(c, &s->step, sizeof s->step, 1);
    pass(c, &run->summed, sizeof run->summed, 1);
    pass(c, run->sums, sizeof run->sums[0], NET_LOSSES);
    float *arrays[] = {s->parameters, s->first, s->second, s->average};
    for (int i = 0; i < 4; i++) pass(c, arrays[i], sizeof(float), net->parameters);
    pass(c, s->statistics, sizeof(double), net->statistics);
}

size_t checkpoint_write(const struct run *run, unsigned char bytes[CHECKPOINT_MOST])
{
    const struct net *net = net_of(&run->recipe);
    uint32_t head[2] = {VERSION, run->recipe.net};
    uint64_t size = size_of(net);
    memcpy(bytes, magic, sizeof magic);
    little(bytes + 8, head, sizeof head[0], 2);
    little(bytes + 16, &size, sizeof size, 1);
    struct cursor cursor = {bytes + HEAD, true, true};
    pass_run(&cursor, net, (struct run *)(uintptr_t)run); /* which changes nothing of it: a copy would be a megabyte */
    uint64_t checksum = XXH3_64bits(bytes, size - TAIL);
    little(bytes + size - TAIL, &checksum, sizeof checksum, 1);
    return size;
}

static bool all_finite(const struct state *s)
{
    for (int i = 0; i < NET_PARAMETERS; i++)
        if (!isfinite(s->parameters[i]) || !isfinite(s->first[i]) || !isfinite(s->second[i]) ||
            !isfinite(s->average[i]))
            return false;
    for (int i = 0; i < NET_STATISTICS; i++)
        if (!isfinite(s->statistics[i])) return false;
    return true;
}

/* Whether head and tail are those of a checkpoint; the net goes into the recipe. */
static const char *check_frame(const unsigned char *bytes, size_t size, struct recipe *recipe)
{
    uint32_t version;
    uint64_t length, checksum;
    if (size < sizeof magic || memcmp(bytes, magic, sizeof magic) != 0)
        return "is not a checkpoint of 'legosketch train'";
    if (size < HEAD + TAIL) return "ends too early";
    little(&version, bytes + 8, sizeof version, 1);
    little(&recipe->net, bytes + 12, sizeof recipe->net, 1);
    little(&length, bytes + 16, sizeof length, 1);
    if (version != VERSION) return "is a checkpoint of another version of legosketch";
    if (!net_of(recipe)) return "is a checkpoint of other networks";
    if (length != size || length != size_of(net_of(recipe))) return "ends too early, or goes on too long";
    little(&checksum, bytes + size - TAIL, sizeof checksum, 1);
    return checksum == XXH3_64bits(bytes, size - TAIL) ? NULL : "was damaged: its checksum is wrong";
}

const char *checkpoint_read(const unsigned char *bytes, size_t size, struct run *run)
{
    struct run *found = calloc(1, sizeof *found);
    if (!found) return "does not fit into memory";
    const char *problem = check_frame(bytes, size, &found->recipe);
    if (!problem) {
        struct cursor cursor = {(unsigned char *)(uintptr_t)bytes + HEAD, false, true}; /* which reads only */
        pass_run(&cursor, net_of(&found->recipe), found);
        if (!cursor.exact || recipe_problem(&found->recipe) || found->state.step > recipe_steps(&found->recipe) ||
            found->summed > found->state.step || !all_finite(&found->state))
            problem = "has the right checksum and impossible content";
        else *run = *found;
    }
    free(found);
    return problem;
}
