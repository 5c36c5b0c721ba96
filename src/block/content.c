/* content: see content.h. */
#include "block/content.h"

#include <string.h>

void content_start(struct content *content, unsigned step)
{
    content->step = step;
    content->n = 0;
    content->loss = (struct loss){0};
    content->looked = false;
    content->entered = 0;
}

/* Cuts the keys to so many bits. Returns whether some have become equal. */
static bool cut_keys(struct content *content, unsigned length)
{
    bool same = false;
    for (unsigned i = 0; i < content->n; i++) {
        content->key[i] = key_cut(content->key[i], length);
        same |= i > 0 && content->key[i] == content->key[i - 1];
    }
    return same;
}

/* Adds up those that are equal, which are neighbours. */
static void unite_keys(struct content *content)
{
    unsigned n = 0;
    for (unsigned i = 0; i < content->n; i++) {
        uint64_t key = content->key[i];
        bool same = n > 0 && content->key[n - 1] == key;
        int64_t sum = content->value[i] + (same ? content->value[n - 1] : 0);
        n -= same;
        content->key[n] = key;
        content->value[n] = sum;
        n += sum != 0; /* what cancels out is not there */
    }
    content->n = n;
}

/* In which half it is could not be foreseen: no branch depends on it. */
unsigned content_find(const struct content *content, uint64_t key)
{
    unsigned low = 0, n = content->n;
    if (n == 0) return 0;
    for (unsigned half; n > 1; n -= half) {
        half = n / 2;
        low += half & -(unsigned)(content->key[low + half - 1] < key);
    }
    return low + (content->key[low] < key);
}

static void move_entries(struct content *content, unsigned from, unsigned to)
{
    memmove(content->key + to, content->key + from, (content->n - from) * sizeof *content->key);
    memmove(content->value + to, content->value + from, (content->n - from) * sizeof *content->value);
    content->n = content->n + to - from;
}

static void add_entry(struct content *content, uint64_t key, int64_t count)
{
    unsigned i = content_find(content, key);
    if (i < content->n && content->key[i] == key) {
        content->value[i] += count;
        if (content->value[i] == 0) move_entries(content, i + 1, i);
    } else if (count != 0) {
        move_entries(content, i, i + 1);
        content->key[i] = key;
        content->value[i] = count;
    }
}

/* From the end, so that the entries of `into` are moved at most once, to where there is room. Which list has the next
 * one could not be foreseen: no branch depends on it. */
static void join_many(struct content *into, const struct content *from, int sign)
{
    unsigned i = into->n, j = from->n, end = i + j, to = end;
    while (i > 0 && j > 0) {
        const uint64_t own = into->key[i - 1], other = from->key[j - 1];
        const bool theirs = other >= own, ours = own >= other;
        int64_t sum = (sign * from->value[j - 1] & -(int64_t)theirs) + (into->value[i - 1] & -(int64_t)ours);
        into->key[to - 1] = own > other ? own : other;
        into->value[to - 1] = sum;
        i -= ours;
        j -= theirs;
        to -= sum != 0;
    }
    while (j > 0) {
        into->key[--to] = from->key[--j];
        into->value[to] = sign * from->value[j];
    }
    /* Entries 0 to i are where they were; behind them is a gap, as wide as keys were equal. */
    memmove(into->key + i, into->key + to, (end - to) * sizeof *into->key);
    memmove(into->value + i, into->value + to, (end - to) * sizeof *into->value);
    into->n = i + end - to;
}

/* Copies n entries, in eights. What it writes behind them is written over later. */
static void copy_entries(struct content *to, unsigned at, const struct content *from, unsigned first, unsigned n)
{
    for (unsigned i = 0; i < n; i += CONTENT_BEHIND) {
        memcpy(to->key + at + i, from->key + first + i, CONTENT_BEHIND * sizeof *to->key);
        memcpy(to->value + at + i, from->value + first + i, CONTENT_BEHIND * sizeof *to->value);
    }
}

/* Where there are far fewer than in `into`: the places of theirs are found first, and what is between is copied. */
enum { FEW = 64 };

static void join_few(struct content *into, const struct content *from, int sign)
{
    struct content own;
    unsigned place[FEW], i = 0, to = 0;
    own.n = into->n;
    copy_entries(&own, 0, into, 0, into->n);
    for (unsigned j = 0; j < from->n; j++) place[j] = content_find(&own, from->key[j]);
    for (unsigned j = 0; j < from->n; j++) {
        copy_entries(into, to, &own, i, place[j] - i);
        to += place[j] - i;
        i = place[j];
        bool same = i < own.n && own.key[i] == from->key[j];
        into->key[to] = from->key[j];
        into->value[to] = sign * from->value[j] + (same ? own.value[i] : 0);
        to += into->value[to] != 0;
        i += same;
    }
    copy_entries(into, to, &own, i, own.n - i);
    into->n = to + own.n - i;
}

void content_join(struct content *into, const struct content *from, int sign)
{
    if (from->n <= FEW && 4 * from->n <= into->n) join_few(into, from, sign);
    else join_many(into, from, sign);
}

void content_lower(struct content *content, unsigned step, unsigned whole)
{
    if (step == content->step) return;
    if (cut_keys(content, step_print(step, whole))) unite_keys(content);
    content->step = step;
}

void content_add(struct content *content, unsigned whole, uint64_t key, int64_t count)
{
    add_entry(content, key_cut(key, step_print(content->step, whole)), count);
}
