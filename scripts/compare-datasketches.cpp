// Our sketch beside Apache DataSketches' Count-Min: millions of items a second of CPU time and errors, at equal bytes in all.
// See scripts/compare-datasketches. The stream is that of build/bench: keys drawn from a Zipf law of exponent 1, u64.
//
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include <count_min.hpp>
#include <legosketch.h>

using datasketches_sketch = datasketches::count_min_sketch<uint32_t>;

static const size_t LENGTH = 1 << 23, ASKED = LENGTH / 8, TOGETHER = 1 << 16;
static const int ROUNDS = 5, ROWS = 3; // as many hashes as suggest_num_hashes(0.95) says

struct stream {
    std::vector<uint64_t> keys, distinct;
    std::vector<uint32_t> truth; // by key
    explicit stream(uint32_t ranks) : truth(ranks + 1)
    {
        std::mt19937_64 random(1);
        while (keys.size() < LENGTH) {
            double uniform = double(random() >> 11) * 0x1p-53;
            uint32_t rank = std::clamp(uint32_t(std::exp(uniform * std::log(ranks + 1.0))), 1u, ranks);
            keys.push_back(rank);
            if (truth[rank]++ == 0) distinct.push_back(rank);
        }
    }
};

static double now() // seconds of CPU
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

// One way to count: from empty each time, then asked.
struct way {
    const char *name;
    std::function<void()> make;
    std::function<void(const stream &)> store;
    std::function<void(const uint64_t *, size_t, std::vector<double> &)> ask;
    std::function<size_t()> bytes;
    double stored = 1e9, asked = 1e9; // the least seconds
};

static void measure(way &self, const stream &s)
{
    std::vector<double> answers(ASKED);
    self.make();
    double start = now();
    self.store(s);
    double middle = now();
    self.ask(s.keys.data(), ASKED, answers);
    self.stored = std::min(self.stored, middle - start);
    self.asked = std::min(self.asked, now() - middle);
}

// AAE and ARE over the distinct items.
static std::pair<double, double> errors(const stream &s, const std::vector<double> &answers)
{
    double aae = 0, are = 0, n = double(s.distinct.size());
    for (size_t i = 0; i < s.distinct.size(); i++) {
        double truth = s.truth[s.distinct[i]], error = std::fabs(answers[i] - truth);
        aae += error / n;
        are += error / truth / n;
    }
    return {aae, are};
}

static void print(way &self, const stream &s, const char *place)
{
    std::vector<double> answers(s.distinct.size());
    self.ask(s.distinct.data(), s.distinct.size(), answers);
    auto [aae, are] = errors(s, answers);
    std::printf("| %s | %s | %.1f | %.1f | %.4g | %.4g | %.1f |\n", place, self.name, double(LENGTH) / self.stored / 1e6,
                double(ASKED) / self.asked / 1e6, aae, are, double(self.bytes()) / 1048576);
}

static void compare(double budget, uint32_t ranks)
{
    stream s(ranks);
    char place[64];
    std::snprintf(place, sizeof place, "%.1f MB, %.2f M distinct", budget / 1048576, double(s.distinct.size()) / 1e6);
    lego_sketch *ours = nullptr;
    std::vector<lego_estimate> estimates(TOGETHER);
    std::vector<datasketches_sketch> theirs; // none or one
    auto make = [&] {
        lego_options options = LEGO_OPTIONS_INIT;
        options.budget = uint64_t(budget);
        lego_destroy(ours);
        if (lego_create(&options, &ours) != LEGO_OK) std::abort();
    };
    auto bytes = [&] {
        lego_info info;
        lego_describe(ours, &info);
        return size_t(info.bytes);
    };
    way ways[] = {
        {"DataSketches Count-Min, one a call",
         [&] {
             theirs.clear();
             theirs.emplace_back(ROWS, uint32_t(budget / (ROWS * sizeof(uint32_t))));
         },
         [&](const stream &from) { for (uint64_t key : from.keys) theirs[0].update(key); },
         [&](const uint64_t *keys, size_t n, std::vector<double> &answers) {
             for (size_t i = 0; i < n; i++) answers[i] = theirs[0].get_estimate(keys[i]);
         },
         [&] { return ROWS * theirs[0].get_num_buckets() * sizeof(uint32_t); }},
        {"legosketch, one a call", make,
         [&](const stream &from) { for (uint64_t key : from.keys) lego_add_u64(ours, key, 1); },
         [&](const uint64_t *keys, size_t n, std::vector<double> &answers) {
             for (size_t i = 0; i < n; i++) {
                 lego_query_u64(ours, keys[i], &estimates[0]);
                 answers[i] = estimates[0].value;
             }
         },
         bytes},
        {"legosketch, batches", make,
         [&](const stream &from) {
             lego_items items = {from.keys.size(), from.keys.data(), nullptr, nullptr, nullptr};
             lego_add_items(ours, &items);
         },
         [&](const uint64_t *keys, size_t n, std::vector<double> &answers) {
             for (size_t at = 0; at < n; at += TOGETHER) {
                 lego_items items = {std::min(TOGETHER, n - at), keys + at, nullptr, nullptr, nullptr};
                 lego_query_items(ours, &items, nullptr, estimates.data());
                 for (size_t i = 0; i < items.n; i++) answers[at + i] = estimates[i].value;
             }
         },
         bytes},
    };
    for (int round = 0; round < ROUNDS; round++)
        for (way &one : ways) measure(one, s);
    for (way &one : ways) print(one, s, place);
    auto [aae, are] = errors(s, std::vector<double>(s.distinct.size(), 1));
    std::printf("| %s | the answer 1 | | | %.4g | %.4g | 0 |\n", place, aae, are);
    lego_destroy(ours);
}

int main()
{
    std::printf("| | | store, M/s | query, M/s | AAE | ARE | MB taken |\n|---|---|---|---|---|---|---|\n");
    compare(1.2 * 1048576, 629145);
    compare(1.2 * 1048576, 4000000); // more than can be listed: blocks share
    compare(134.0 * 1048576, 8000000);
}
