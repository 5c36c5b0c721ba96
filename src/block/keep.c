/* keep: see keep.h.
 *
 * A block keeps when its prints would need fewer than 20 bits. From then on it takes its items one after the other:
 *
 *   Prints.    All entries know p bits of their prints. p falls to 16, bit by bit, as the block overflows. A *heavy*
 *              entry, whose count is at least 15 times the usual, may know 22: so who shares a short print with a
 *              giant does not inherit its count. It takes the longer bits from the item that comes. Where 1,000 items
 *              or more have come, who is listed is a giant beside most of them: then all may. Those who have
 *              to go for that are not of the nursery, but next above it.
 *   Sample.    The first four entries, those of the smallest prints, are never let go, and know 20 bits. They are a
 *              uniform sample of the distinct items, with their exact counts; one that is deleted stays, as 0.
 *   Pressing.  At 16 bits an entry goes when the block overflows. A newcomer *presses*: its weight is added up, and
 *              when the sum (nursed) reaches the smallest count, the newcomer takes the place of an entry that has it;
 *              otherwise it is lost. (It is let in no sooner, else a crowd of ones would wash the block out.)
 *   Nursery.   So that newcomers find a place among the mighty, a second sum (press) of all newcomers lets one of the
 *              n smallest go when it reaches 8 times the n-th smallest count, if anybody is below that. n is 8, and 16,
 *              32, 64 when more than 4, 8, 16 times of what is listed is lost.
 *   Hand.      Of equal counts the one goes that comes next after the last who went, in the order of the prints.
 *   Growing.   Where an overflow comes of a count that has grown, the smallest of the others goes: never who has just
 *              come, else nobody could ever grow among the mighty.
 *   Left.      Newcomers that weigh less than `left` together change the two sums alone, and what is lost: that much is
 *              known when the counts have been looked at. So most newcomers cost nobody a look.
 *
 * No random numbers. Related: RAP (Ben Basat et al. 2017), Space-Saving (Metwally et al. 2005; Ting 2018), HeavyKeeper
 * (Yang et al. 2018), CLOCK; Sublime (SIGMOD 2026) sheds bits of fingerprints as it grows. */
#include "block/keep.h"

#include <stdlib.h>
#include <string.h>

#include "block/levels.h"
#include "core/hash.h"

enum { NOBODY = CONTENT_MOST, NURSERY = 8, PRESS = 8, CROWD = 8 };
#define PRESS_MOST (UINT64_C(1) << 62)

static uint64_t magnitude(int64_t x)
{
    return x < 0 ? -(uint64_t)x : (uint64_t)x;
}

static unsigned print_of(const struct content *c)
{
    return step_print(c->step, 0);
}

/* ---- what it takes ----------------------------------------------------------------------------------------------- */

static bool is_heavy(const struct content *c, int64_t value)
{
    return to_code(value, c->signs) >> c->g >= reach[heavy_level(c->step)];
}

static unsigned entry_bits(const struct content *c, int64_t value)
{
    const uint64_t t = to_code(value, c->signs) >> c->g;
    return 1 + c->g + digit_bits(t) + (t >= reach[heavy_level(c->step)] ? longer_width(print_of(c)) : 0);
}

/* Looks at all counts. */
static void look(struct content *c)
{
    if (c->looked) return;
    c->looked = true;
    c->listed = c->smallest = 0;
    c->smallests = 0;
    for (unsigned i = 0; i < c->n; i++) {
        const uint64_t x = magnitude(c->value[i]);
        c->listed += x;
        if (i < BLOCK_SAMPLE || (c->smallests > 0 && x > c->smallest)) continue;
        c->smallests = c->smallests > 0 && x == c->smallest ? c->smallests + 1 : 1;
        c->smallest = x;
    }
}

/* An entry that is not of the sample has come; one has gone; one has grown. */
static void look_at_new(struct content *c, uint64_t x)
{
    c->listed += x;
    c->looked = c->looked && x >= c->smallest && c->smallests > 0;
    c->smallests += x == c->smallest;
}

static void look_at_gone(struct content *c, unsigned i, uint64_t x)
{
    c->listed -= x;
    c->smallests -= i >= BLOCK_SAMPLE && x == c->smallest;
    c->looked = c->looked && c->smallests > 0;
}

static void look_at_grown(struct content *c, unsigned i, uint64_t before, uint64_t more)
{
    c->listed += more;
    c->smallests -= i >= BLOCK_SAMPLE && before == c->smallest;
    c->looked = c->looked && c->smallests > 0;
}

static void count_bits(struct content *c)
{
    c->bits = 0;
    for (unsigned i = 0; i < c->n; i++) c->bits += entry_bits(c, c->value[i]);
}

static unsigned lost_code(uint64_t x)
{
    return x < 4 ? 0 : (61 - (unsigned)__builtin_clzll(x) + 4) / 4;
}

struct tail_widths keep_widths(const struct loss *loss)
{
    const uint64_t most = loss->plus > loss->minus ? loss->plus : loss->minus;
    return (struct tail_widths){loss->wide, lost_code(most), loss->minus > 0};
}

unsigned keep_size(const struct content *c)
{
    return keys_size(c->n, print_of(c)) + c->bits + tail_bits(c->step, keep_widths(&c->loss));
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* Bits of its print that an entry may know. */
static unsigned known_most(const struct content *c, unsigned i)
{
    return is_heavy(c, c->value[i]) ? PRINT_HEAVY : i < BLOCK_SAMPLE ? PRINT_SAME : print_of(c);
}

static bool comes_before(const struct content *c, unsigned i, unsigned j)
{
    return c->key[i] < c->key[j] || (c->key[i] == c->key[j] && c->known[i] < c->known[j]);
}

static void move_entries(struct content *c, unsigned from, unsigned to)
{
    memmove(c->key + to, c->key + from, (c->n - from) * sizeof *c->key);
    memmove(c->value + to, c->value + from, (c->n - from) * sizeof *c->value);
    memmove(c->known + to, c->known + from, c->n - from);
    c->n = c->n + to - from;
}

/* Exchanges neighbours. */
static void swap_entries(struct content *c, unsigned i, unsigned j)
{
    uint64_t key = c->key[i];
    int64_t value = c->value[i];
    uint8_t known = c->known[i];
    c->key[i] = c->key[j], c->value[i] = c->value[j], c->known[i] = c->known[j];
    c->key[j] = key, c->value[j] = value, c->known[j] = known;
}

/* Brings an entry whose key knows more bits than before to where it belongs, and returns where that is. */
static unsigned put_in_order(struct content *c, unsigned i)
{
    for (; i > 0 && comes_before(c, i, i - 1); i--) swap_entries(c, i, i - 1);
    for (; i + 1 < c->n && comes_before(c, i + 1, i); i++) swap_entries(c, i, i + 1);
    return i;
}

static void remove_entry(struct content *c, unsigned i, unsigned *spared)
{
    if (*spared == i) *spared = NOBODY;
    else if (*spared != NOBODY && *spared > i) --*spared;
    move_entries(c, i + 1, i);
}

/* Cuts what entries know too much, brings them in order again, adds up equal ones, and drops those of 0 that are not of
 * the sample. Returns whether there is more to do: entries may have left or entered the sample. */
static bool tidy_once(struct content *c, unsigned *spared)
{
    bool more = false;
    for (unsigned i = 0; i < c->n; i++) {
        unsigned most = known_most(c, i);
        if (c->known[i] > most) c->key[i] = key_cut(c->key[i], c->known[i] = (uint8_t)most), more = true;
        for (unsigned k = i; k > 0 && comes_before(c, k, k - 1); k--, more = true) {
            if (*spared == k || *spared == k - 1) *spared = *spared == k ? k - 1 : k;
            swap_entries(c, k, k - 1);
        }
    }
    for (unsigned i = c->n; i-- > 0;) {
        bool same = i > 0 && c->key[i] == c->key[i - 1] && c->known[i] == c->known[i - 1];
        if (same) {
            c->value[i - 1] += c->value[i];
            if (*spared == i) *spared = i - 1;
        }
        if (same || (c->value[i] == 0 && i >= BLOCK_SAMPLE)) remove_entry(c, i, spared), more = true;
    }
    return more;
}

static void set_signs(struct content *c)
{
    bool above = false, below = false, none = false;
    for (unsigned i = 0; i < c->n; i++) {
        above |= c->value[i] > 0;
        below |= c->value[i] < 0;
        none |= c->value[i] == 0;
    }
    c->signs = none || (above && below) ? SIGNS_BOTH : below ? SIGNS_BELOW : SIGNS_ABOVE;
}

static void tidy(struct content *c, unsigned *spared)
{
    do set_signs(c);
    while (tidy_once(c, spared));
    count_bits(c);
    c->looked = false;
}

/* The entry that an item is counted in: of those that agree with it in all that they know, the one that knows most. */
static unsigned find_item(const struct content *c, uint64_t key)
{
    const unsigned print = print_of(c);
    unsigned found = NOBODY;
    for (unsigned i = content_find(c, key_cut(key, print)); i < c->n && (c->key[i] ^ key) >> (64 - print) == 0; i++)
        if ((c->key[i] ^ key) >> (64 - c->known[i]) == 0 && (found == NOBODY || c->known[i] > c->known[found]))
            found = i;
    return found;
}

/* ---- g and p ----------------------------------------------------------------------------------------------------- */

static unsigned bits_with(struct content *c, unsigned g)
{
    unsigned sum = 0, longer = longer_width(print_of(c));
    for (unsigned i = 0; i < c->n; i++) {
        uint64_t t = to_code(c->value[i], c->signs) >> g;
        sum += 1 + g + digit_bits(t) + (t >= reach[heavy_level(c->step)] ? longer : 0);
    }
    return sum;
}

/* Brings g to where its neighbours take no fewer bits. */
static void choose_g(struct content *c, unsigned *spared)
{
    const unsigned before = c->g;
    for (unsigned up; c->g < BLOCK_G_MAX && (up = bits_with(c, c->g + 1)) < c->bits; c->g++) c->bits = up;
    for (unsigned down; c->g > 0 && (down = bits_with(c, c->g - 1)) < c->bits; c->g--) c->bits = down;
    if (c->g != before) tidy(c, spared);
}

/* Brings g to where it takes the fewest bits of all: going by neighbours may end before, where counts are large. */
static void find_g(struct content *c)
{
    unsigned best = 0, least = bits_with(c, 0);
    for (unsigned g = 1; g <= BLOCK_G_MAX; g++) {
        const unsigned bits = bits_with(c, g);
        if (bits < least) best = g, least = bits;
    }
    c->g = best;
}

static void lower_print(struct content *c, unsigned *spared)
{
    c->step++;
    tidy(c, spared);
}

/* ---- letting go -------------------------------------------------------------------------------------------------- */

/* The n-th smallest |count|, and the smallest, of those that may go; 0 if there are none. */
struct border {
    uint64_t smallest, nth;
};

static struct border find_border(struct content *c, unsigned n, unsigned spared)
{
    uint64_t least[NURSERY << 3];
    unsigned some = 0;
    look(c);
    if (c->smallests > n) return (struct border){c->smallest, c->smallest}; /* whoever is spared */
    for (unsigned i = BLOCK_SAMPLE; i < c->n; i++) {
        uint64_t x = magnitude(c->value[i]);
        if (i == spared || (some == n && x >= least[n - 1])) continue;
        unsigned at = some < n ? some++ : n - 1;
        for (; at > 0 && least[at - 1] > x; at--) least[at] = least[at - 1];
        least[at] = x;
    }
    return some ? (struct border){least[0], least[some - 1]} : (struct border){0, 0};
}

static unsigned nursery(struct content *c)
{
    const lego_u128 lost = (lego_u128)c->loss.plus + c->loss.minus;
    unsigned n = NURSERY;
    look(c);
    for (unsigned f = 4; f <= 16 && lost > (lego_u128)f * c->listed; f *= 2) n *= 2;
    return n;
}

static uint64_t press_limit(const struct border *border)
{
    return border->nth > PRESS_MOST / PRESS ? PRESS_MOST : border->nth * PRESS;
}

/* The entry of this |count| that comes next after the hand. */
static unsigned next_victim(const struct content *c, uint64_t size, unsigned spared)
{
    const unsigned hand = content_find(c, (uint64_t)c->loss.hand << 56);
    for (unsigned i = hand; i < c->n; i++)
        if (i >= BLOCK_SAMPLE && i != spared && magnitude(c->value[i]) == size) return i;
    for (unsigned i = BLOCK_SAMPLE; i < hand; i++)
        if (i != spared && magnitude(c->value[i]) == size) return i;
    return NOBODY;
}

static void lose(struct content *c, int64_t count)
{
    if (count < 0) c->loss.minus += magnitude(count);
    else c->loss.plus += magnitude(count);
}

/* Whom a newcomer displaces: himself, if he has not pressed enough. */
static unsigned press(struct content *c, unsigned newcomer)
{
    const struct border border = find_border(c, nursery(c), newcomer);
    const uint64_t weight = magnitude(c->value[newcomer]);
    struct loss *loss = &c->loss;
    if (border.smallest == 0) return newcomer;
    loss->press += weight;
    if (border.smallest < border.nth && loss->press >= press_limit(&border)) {
        loss->press = 0;
        return next_victim(c, border.nth, newcomer);
    }
    loss->nursed += weight;
    if (loss->nursed < border.smallest) return newcomer;
    loss->nursed = 0;
    return next_victim(c, border.smallest, newcomer);
}

/* Lets a newcomer press; else one of the n-th smallest count goes. */
static void let_go(struct content *c, unsigned *spared, bool new, unsigned n)
{
    unsigned victim;
    if (new &&*spared != NOBODY &&*spared >= BLOCK_SAMPLE) victim = press(c, *spared);
    else victim = next_victim(c, find_border(c, n, *spared).nth, *spared);
    if (victim == NOBODY) victim = *spared;
    if (victim != *spared) c->loss.hand = (uint8_t)((c->key[victim] >> 56) + 1);
    lose(c, c->value[victim]);
    c->bits -= entry_bits(c, c->value[victim]);
    look_at_gone(c, victim, magnitude(c->value[victim]));
    remove_entry(c, victim, spared);
}

/* What newcomers may weigh until somebody has to look again, and how wide the sums are till then. */
static void settle(struct content *c)
{
    struct loss *loss = &c->loss;
    loss->left = 0;
    if (c->step < STEP_FLOOR) return;
    const struct border border = find_border(c, nursery(c), NOBODY);
    const uint64_t limit = press_limit(&border);
    if (border.smallest == 0) loss->press = loss->nursed = loss->wide = 0; /* nobody can be pressed */
    if (border.smallest == 0) return;
    if (loss->press >= limit) loss->press = limit - 1;
    if (loss->nursed >= border.smallest) loss->nursed = border.smallest - 1;
    loss->wide = (uint8_t)((64 - (unsigned)__builtin_clzll(limit + border.smallest - 2)) / 4);
    const unsigned one = keys_size(c->n + 1, print_of(c)) - keys_size(c->n, print_of(c)) + 1 + c->g;
    if (keep_size(c) + one <= BLOCK_ROOM) return; /* a newcomer would find room */
    loss->left = border.smallest - loss->nursed;
    if (border.smallest < border.nth && limit - loss->press < loss->left) loss->left = limit - loss->press;
}

/* About 1,000 items or more have come: the fourth smallest print is so small. (A block that overflows has more than
 * four entries.) */
static bool is_crowded(const struct content *c)
{
    return c->key[BLOCK_SAMPLE - 1] >> (64 - CROWD) == 0;
}

/* `spared` has just come, if it is new, or its count has grown; or it is NOBODY. A newcomer who displaces somebody
 * changes too little for another g. */
static void fit(struct content *c, unsigned spared, bool new)
{
    unsigned n = 1;
    while (keep_size(c) > BLOCK_ROOM) {
        if (!new || c->step < STEP_FLOOR) choose_g(c, &spared);
        if (keep_size(c) <= BLOCK_ROOM) break;
        if (c->step < STEP_FLOOR) lower_print(c, &spared);
        else if (c->step == STEP_FLOOR && is_crowded(c)) lower_print(c, &spared), n = nursery(c);
        else let_go(c, &spared, new, n), new = false;
    }
}

static void fit_and_settle(struct content *c, unsigned spared, bool new)
{
    do {
        fit(c, spared, new);
        settle(c);
        spared = NOBODY;
        new = false;
    } while (keep_size(c) > BLOCK_ROOM);
}

static void fit_and_settle_if(struct content *c, unsigned spared)
{
    if (keep_size(c) > BLOCK_ROOM) fit_and_settle(c, spared, false);
}

/* ---- one item ---------------------------------------------------------------------------------------------------- */

/* Whether an entry but for one agrees with a key in the bits that all know. */
static bool has_alike(const struct content *c, uint64_t key, unsigned but)
{
    const unsigned print = print_of(c);
    for (unsigned i = content_find(c, key_cut(key, print)); i < c->n && (c->key[i] ^ key) >> (64 - print) == 0; i++)
        if (i != but) return true;
    return false;
}

/* What is taken away was lost before, if nobody lists it. */
static bool comes_off(struct content *c, uint64_t key, unsigned but, int64_t count)
{
    if (count > 0 || magnitude(count) > c->loss.plus || has_alike(c, key, but)) return false;
    c->loss.plus -= magnitude(count);
    return true;
}

/* Puts a newcomer where it belongs. Mostly that changes nothing for the others. */
static unsigned insert(struct content *c, uint64_t key, int64_t count)
{
    const unsigned known = is_heavy(c, count) ? PRINT_HEAVY : print_of(c);
    unsigned i = content_find(c, key_cut(key, known));
    const bool alone = i >= BLOCK_SAMPLE && count > 0 && c->signs == SIGNS_ABOVE;
    move_entries(c, i, i + 1);
    c->known[i] = alone ? (uint8_t)known : PRINT_HEAVY;
    c->key[i] = key_cut(key, c->known[i]);
    c->value[i] = count;
    if (alone) {
        c->bits += entry_bits(c, count);
        look_at_new(c, magnitude(count));
    } else {
        tidy(c, &i);
    }
    c->entered += i < BLOCK_SAMPLE;
    return i;
}

static void come(struct content *c, uint64_t key, int64_t count)
{
    struct loss *loss = &c->loss;
    const uint64_t size = magnitude(count);
    if (comes_off(c, key, NOBODY, count)) return;
    unsigned i = content_find(c, key_cut(key, print_of(c)));
    if (i >= BLOCK_SAMPLE && size < loss->left) {
        loss->press += size;
        loss->nursed += size;
        loss->left -= size;
        lose(c, count);
        if (keep_size(c) > BLOCK_ROOM) fit_and_settle(c, NOBODY, false);
        return;
    }
    fit_and_settle(c, insert(c, key, count), true);
}

/* An entry whose count goes down, or beyond 0. */
static void fall(struct content *c, unsigned i, int64_t now)
{
    const int64_t before = c->value[i];
    if ((before < 0) != (now < 0) && now != 0 && comes_off(c, c->key[i], i, now)) now = 0;
    c->value[i] = now;
    unsigned spared = i;
    tidy(c, &spared);
    fit_and_settle(c, spared, false);
}

void keep_add(struct content *c, uint64_t key, int64_t count)
{
    if (count == 0) return;
    const unsigned i = find_item(c, key);
    if (i == NOBODY) {
        come(c, key, count);
        return;
    }
    const int64_t before = c->value[i], now = before + count;
    if (before == 0 || (before < 0) != (count < 0)) {
        fall(c, i, now);
        return;
    }
    const unsigned more = entry_bits(c, now) - entry_bits(c, before);
    c->value[i] = now;
    look_at_grown(c, i, magnitude(before), magnitude(count));
    if (more == 0 && c->known[i] == known_most(c, i)) return;
    c->bits += more;
    c->known[i] = (uint8_t)known_most(c, i);
    c->key[i] = key_cut(key, c->known[i]);
    unsigned at = put_in_order(c, i);
    if (at == i) {
        fit_and_settle_if(c, i);
    } else { /* another one may be of the sample now */
        tidy(c, &at);
        fit_and_settle(c, at, false);
    }
}

void keep_start(struct content *c)
{
    unsigned nobody = NOBODY;
    memset(c->known, PRINT_SAME, c->n);
    c->loss = (struct loss){0};
    c->step = STEP_KEEP;
    set_signs(c);
    find_g(c);
    tidy(c, &nobody);
    fit_and_settle(c, NOBODY, false);
}

bool keep_valid(struct content *c)
{
    const struct loss *loss = &c->loss;
    const uint64_t smallest = find_border(c, 1, NOBODY).smallest;
    if (c->step < STEP_FLOOR && (loss->plus | loss->minus | loss->hand)) return false;
    if (c->step < STEP_FLOOR || smallest == 0) return (loss->press | loss->nursed | loss->left | loss->wide) == 0;
    if (loss->nursed >= smallest || loss->left > smallest - loss->nursed) return false;
    return loss->press + loss->left <= UINT64_C(1) << (4 * loss->wide + 3);
}

/* ---- several lists ----------------------------------------------------------------------------------------------- */

static int compare_entries(const void *one, const void *other)
{
    const struct entry *x = one, *y = other;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (int)x->known - (int)y->known;
}

static uint64_t add_press(uint64_t press, uint64_t often, uint64_t more)
{
    const lego_u128 sum = press + (lego_u128)often * more;
    return sum > PRESS_MOST ? PRESS_MOST : (uint64_t)sum;
}

void keep_gather(struct joined *joined, const struct content *from, unsigned whole, int64_t times)
{
    const bool keeps = step_keeps(from->step);
    const unsigned print = step_print(from->step, whole) < PRINT_HEAVY ? step_print(from->step, whole) : PRINT_HEAVY;
    const uint64_t often = magnitude(times);
    for (unsigned i = 0; i < from->n; i++) {
        const unsigned known = keeps ? from->known[i] : print;
        const struct entry entry = {key_cut(from->key[i], known), times * from->value[i], (uint8_t)known};
        joined->entry[joined->n++] = entry;
    }
    if (from->step > joined->step) joined->step = from->step;
    if (!keeps) return;
    joined->loss.plus += often * (times > 0 ? from->loss.plus : from->loss.minus);
    joined->loss.minus += often * (times > 0 ? from->loss.minus : from->loss.plus);
    joined->loss.press = add_press(joined->loss.press, often, from->loss.press);
    joined->loss.nursed = add_press(joined->loss.nursed, often, from->loss.nursed);
}

/* Brings the entries in order, and adds up equal ones. */
static void sort_entries(struct joined *joined)
{
    size_t n = 0;
    qsort(joined->entry, joined->n, sizeof *joined->entry, compare_entries);
    for (size_t i = 0; i < joined->n; i++) {
        if (n > 0 && compare_entries(&joined->entry[n - 1], &joined->entry[i]) == 0)
            joined->entry[n - 1].value += joined->entry[i].value;
        else joined->entry[n++] = joined->entry[i];
    }
    joined->n = n;
}

/* Joins the entries of one print that may be of the same item: each with the one that knows most of those that agree
 * with it. They are from `first` to `end` - 1; where they end then is returned. */
static size_t join_print(struct entry *entry, size_t first, size_t end)
{
    for (size_t i = first; i < end;) {
        size_t best = i;
        for (size_t k = first; k < end; k++)
            if (k != i && (entry[k].known > entry[best].known || (entry[k].known == entry[best].known && k < best)) &&
                (entry[k].key ^ entry[i].key) >> (64 - entry[i].known) == 0)
                best = k;
        if (best == i) {
            i++;
            continue;
        }
        entry[best].value += entry[i].value;
        memmove(entry + i, entry + i + 1, (end - i - 1) * sizeof *entry);
        end--;
    }
    return end;
}

/* All of them. */
static void join_prints(struct joined *joined, unsigned print)
{
    size_t n = 0;
    for (size_t i = 0, end; i < joined->n; i = end) {
        for (end = i + 1; end < joined->n && (joined->entry[end].key ^ joined->entry[i].key) >> (64 - print) == 0;)
            end++;
        size_t left = join_print(joined->entry, i, end) - i;
        memmove(joined->entry + n, joined->entry + i, left * sizeof *joined->entry);
        n += left;
    }
    joined->n = n;
}

/* The heaviest first, and of those that are equal the larger print. */
static int compare_sizes(const void *one, const void *other)
{
    const struct entry *x = one, *y = other;
    const uint64_t size = magnitude(x->value), than = magnitude(y->value);
    return size != than ? (size > than ? -1 : 1) : compare_entries(other, one);
}

/* Lets go of the lightest that surely go, so that the others are a content. */
static void join_heaviest(struct joined *joined, struct content *c)
{
    if (joined->n <= BLOCK_ENTRIES) return;
    qsort(joined->entry + BLOCK_SAMPLE, joined->n - BLOCK_SAMPLE, sizeof *joined->entry, compare_sizes);
    while (joined->n > BLOCK_ENTRIES) lose(c, joined->entry[--joined->n].value);
    qsort(joined->entry, joined->n, sizeof *joined->entry, compare_entries);
}

void keep_join(struct joined *joined, struct content *c)
{
    unsigned nobody = NOBODY;
    c->step = joined->step < STEP_KEEP ? STEP_KEEP : joined->step;
    c->loss = joined->loss;
    c->loss.hand = c->loss.wide = 0;
    sort_entries(joined);
    join_prints(joined, print_of(c));
    if (joined->n > BLOCK_ENTRIES) { /* more than fit with prints of any length */
        c->step = STEP_FLOOR;
        join_prints(joined, PRINT_FLOOR);
        join_heaviest(joined, c);
    }
    c->n = (unsigned)joined->n;
    for (unsigned i = 0; i < c->n; i++) {
        c->key[i] = joined->entry[i].key;
        c->value[i] = joined->entry[i].value;
        c->known[i] = joined->entry[i].known;
    }
    set_signs(c);
    find_g(c);
    tidy(c, &nobody);
    fit_and_settle(c, NOBODY, false);
}
