// probe-blocks COUNTS [NAME=value ...]: the mean absolute error that blocks of another design would have.
//
// COUNTS are the counts of a stream's distinct items, 32-bit little-endian. Nothing is coded: the program adds up how
// many bits each block would need, finds the state that fits as src/block/block.h defines it, and answers every item by
// the rule, the least of what its block and its cap say, without networks. It prints one error for each budget.
//
//     bytes=256    of a block
//     share=12     bits of a print that shared cells know
//     rice=0       1: Rice-coded gaps, 0: unary quotients
//     steps=4      between two lengths of prints: parts of a block that give up the bit
//     folds=4      parts in which a half of a row is folded
//     page=32      blocks that share a cap; 0: there are no caps
//     subs=1       blocks that share their bytes, each with a list of its own
//     seeds=1      hash seeds to average over
//     at=1,2       bytes of memory for each distinct item: the budgets
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

struct item {
    uint64_t hash;
    int64_t count;
};
using items = std::vector<item>;
using cells = std::vector<int64_t>;

static std::map<std::string, unsigned> design = {{"bytes", 256}, {"share", 12}, {"rice", 0}, {"steps", 4},
                                                 {"folds", 4},   {"page", 32},  {"subs", 1}, {"seeds", 1}};
static const unsigned print_most = 24, head = 40;
static unsigned bits, share, rice, steps, folds, page, subs; // of the design

static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

// ---- how many bits --------------------------------------------------------------------------------------------------

// The level code of block.h: integers with each number g of low bits at once.
class levels
{
    unsigned size[17] = {};

    static unsigned digits(uint64_t t)
    {
        return 2 * (t >= 1) + 2 * (t >= 3) + 2 * (t >= 7) + 3 * (t >= 15) + 5 * (t >= 47) + 9 * (t >= 559) +
               17 * (t >= 131631);
    }

  public:
    void add(uint64_t v)
    {
        for (unsigned g = 0; g <= 16; g++) size[g] += 1 + g + digits(v >> g);
    }
    unsigned best() const
    {
        return *std::min_element(size, size + 17);
    }
};

// n prints that have `sum` bits together: their leading q bits in unary, the others as they are.
static unsigned unary_bits(unsigned n, unsigned sum)
{
    unsigned q = 2;
    while (1u << q < n) q++;
    return n == 0 ? 0 : n + (1u << q) + sum - n * q;
}

// The gaps between prints in order, with the best of all Rice codes.
static unsigned rice_bits(const std::vector<uint64_t> &prints)
{
    uint64_t best = UINT32_MAX;
    for (unsigned k = 0; k <= print_most; k++) {
        uint64_t sum = 0, next = 0;
        for (uint64_t print : prints) {
            sum += k + 1 + ((print - next) >> k);
            next = print + 1;
        }
        best = std::min(best, sum);
    }
    return prints.empty() ? 0 : unsigned(best);
}

// ---- a list ---------------------------------------------------------------------------------------------------------

// Prints of `print` bits, of which the lowest `parts` of `steps` parts have one less.
struct list {
    unsigned print = 0, parts = 0, size = 0;
    std::map<uint64_t, int64_t> entry;

    unsigned length(uint64_t hash) const
    {
        return print - ((hash >> 32) * steps >> 32 < parts);
    }
    uint64_t key(uint64_t hash) const
    {
        return hash >> (64 - length(hash)) << (64 - length(hash));
    }
};

static list make_list(const items &block, unsigned print, unsigned parts)
{
    list made{print, parts, 0, {}};
    levels code;
    std::vector<uint64_t> prints;
    unsigned sum = 0;
    for (const item &i : block) made.entry[made.key(i.hash)] += i.count;
    for (const auto &[key, count] : made.entry) {
        code.add(count - 1);
        prints.push_back(key >> (64 - print));
        sum += made.length(key);
    }
    made.size = (rice ? rice_bits(prints) : unary_bits(prints.size(), sum)) + code.best() + head;
    return made;
}

static unsigned size_of(const std::vector<list> &lists)
{
    unsigned sum = 0;
    for (const list &one : lists) sum += one.size;
    return sum;
}

// The lists of blocks that share their bytes, with the longest prints that fit; none if `share` bits are too many.
static std::vector<list> make_lists(const items *block)
{
    std::vector<list> lists(subs);
    unsigned room = subs * bits, print = print_most;
    for (;; print--) {
        if (print < share) return {};
        for (unsigned s = 0; s < subs; s++) lists[s] = make_list(block[s], print, 0);
        if (size_of(lists) <= room) break;
    }
    if (print == print_most) return lists;
    if (subs == 1) {
        for (unsigned parts = 1; parts < steps; parts++) {
            list longer = make_list(block[0], print + 1, parts);
            if (longer.size <= room) return {longer};
        }
        return lists;
    }
    for (unsigned s = subs; s-- > 0;) { // here the parts are the blocks
        std::vector<list> longer = lists;
        longer[s] = make_list(block[s], print + 1, 0);
        if (size_of(longer) > room) break;
        lists = longer;
    }
    return lists;
}

// ---- rows of shared cells -------------------------------------------------------------------------------------------

static unsigned power_above(unsigned cells)
{
    unsigned power = 1;
    while (power < cells) power *= 2;
    return power;
}

// A row begins with a power of two of cells. It may be folded in part: its last cells are then with those half a power
// of two before them.
struct row {
    unsigned start, known;
    uint32_t multiplier;
    cells sum;

    unsigned cell(uint64_t hash) const
    {
        unsigned power = power_above(sum.size());
        unsigned first = uint64_t(uint32_t(hash >> (64 - known)) * multiplier) * start >> 32,
                 cell = first & (power - 1);
        return cell < sum.size() ? cell : cell - power / 2;
    }
    int64_t at(uint64_t hash) const
    {
        return sum[cell(hash)];
    }
};

static unsigned fold(unsigned cells)
{
    return cells - std::max(1u, power_above(cells) / 2 / folds);
}

static row make_row(const items &block, row made, unsigned size)
{
    made.sum.assign(size, 0);
    for (const item &i : block) made.sum[made.cell(i.hash)] += i.count;
    return made;
}

static unsigned row_bits(const std::vector<row> &rows)
{
    levels code;
    for (const row &one : rows)
        for (int64_t v : one.sum) code.add(v);
    return code.best() + head;
}

// Two rows, of which the longer one is folded next, until they fit.
static std::vector<row> make_rows(const items &block)
{
    row first{bits / 4, share, 0x9e3779b1u, {}}, second{bits / 8, share, 0x85ebca6bu, {}};
    unsigned size[2] = {first.start, second.start};
    for (;;) {
        std::vector<row> made = {make_row(block, first, size[0]), make_row(block, second, size[1])};
        if (size[1] <= 2 || row_bits(made) <= bits) return made;
        unsigned power[2] = {power_above(size[0]), power_above(size[1])};
        unsigned next = power[0] > power[1] || (power[0] == power[1] && size[0] < power[0]) ? 0 : 1;
        size[next] = fold(size[next]);
    }
}

static row make_cap(const items &all)
{
    for (unsigned size = 512;; size = fold(size)) {
        row made = make_row(all, {512, print_most, 0xc2b2ae35u, {}}, size);
        if (size <= 2 || row_bits({made}) <= bits) return made;
    }
}

// ---- a stream -------------------------------------------------------------------------------------------------------

// Sum of the errors of all items, in blocks of so many bytes together.
static double error_of(const std::vector<int32_t> &counts, double budget, uint64_t seed)
{
    double room = budget * 8 / bits;
    size_t units = std::max<size_t>(1, size_t((page ? room * page / (page + 1) : room) / subs));
    std::vector<items> block(units * subs), of_cap(page ? (block.size() + page - 1) / page : 0);
    for (size_t i = 0; i < counts.size(); i++) {
        item one{mix(2 * i + seed * 0x5555555555u), counts[i]};
        size_t at = mix(one.hash ^ 77) % block.size();
        block[at].push_back(one);
        if (page) of_cap[at / page].push_back(one);
    }
    std::vector<row> cap;
    for (const items &all : of_cap) cap.push_back(make_cap(all));
    double sum = 0;
    for (size_t unit = 0; unit < block.size(); unit += subs) {
        std::vector<list> lists = make_lists(&block[unit]);
        for (size_t at = unit; at < unit + subs; at++) {
            std::vector<row> rows = lists.empty() ? make_rows(block[at]) : std::vector<row>();
            for (const item &i : block[at]) {
                int64_t most = lists.empty() ? std::min(rows[0].at(i.hash), rows[1].at(i.hash))
                                             : lists[at - unit].entry.at(lists[at - unit].key(i.hash));
                if (page) most = std::min(most, cap[at / page].at(i.hash));
                sum += double(most - i.count);
            }
        }
    }
    return sum;
}

static std::vector<int32_t> read_counts(const char *file)
{
    std::ifstream in(file, std::ios::binary);
    std::vector<int32_t> counts;
    for (int32_t c; in.read(reinterpret_cast<char *>(&c), sizeof c);) counts.push_back(c);
    return counts;
}

int main(int argc, char **argv)
{
    std::string budgets = "1,2";
    for (int a = 2; a < argc; a++) {
        std::string text = argv[a], name = text.substr(0, text.find('=')), value = text.substr(text.find('=') + 1);
        if (name == "at") budgets = value;
        else if (design.count(name) && value != text) design[name] = unsigned(std::stoul(value));
        else return fprintf(stderr, "probe-blocks: %s?\n", argv[a]), 2;
    }
    std::vector<int32_t> counts = argc > 1 ? read_counts(argv[1]) : std::vector<int32_t>();
    if (counts.empty()) return fprintf(stderr, "probe-blocks: no counts\n"), 2;
    bits = 8 * design["bytes"], share = design["share"], rice = design["rice"], steps = design["steps"];
    folds = design["folds"], page = design["page"], subs = design["subs"];
    std::istringstream list(budgets);
    for (std::string one; std::getline(list, one, ',');) {
        double sum = 0;
        for (unsigned seed = 0; seed < design["seeds"]; seed++)
            sum += error_of(counts, std::stod(one) * counts.size(), seed);
        printf("%.6g\n", sum / counts.size() / design["seeds"]);
    }
}
