/* compact: see compact.h for the networks. */
#include "model/compact.h"

#include <math.h>
#include <string.h>

#include "model/network.h"

/* ---- the scan ---------------------------------------------------------------------------------------------------- */

/* 0 to 8 as they are, then two an octave. */
static unsigned bucket(int64_t value)
{
    if (value <= 8) return value > 0 ? (unsigned)value : 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)value), upper = (uint64_t)value >> (octave - 1) & 1;
    unsigned b = 9 + 2 * (octave - 3) + upper;
    return b < COMPACT_BUCKETS ? b : COMPACT_BUCKETS - 1;
}

/* By how many bits values are shifted down: none below a mean of 2^17 a block. */
static int shift_for(double mean)
{
    int exponent;
    if (mean < 131072) return 0; /* nearly always */
    frexp(mean, &exponent);      /* mean < 2^exponent */
    return exponent - 17;
}

/* The scanned blocks: the first that share. How many. */
static unsigned find_scanned(const struct blocks *blocks, uint32_t scanned[COMPACT_SCANNED])
{
    uint32_t end = blocks->blocks < COMPACT_AMONG ? blocks->blocks : COMPACT_AMONG;
    unsigned n = 0;
    for (uint32_t i = 0; i < end && n < COMPACT_SCANNED; i++)
        if (!step_lists(block_step(&blocks->block[i]))) scanned[n++] = i;
    return n;
}

/* What is counted of them. */
struct counts {
    double mass; /* of row 0 */
    uint32_t cells, widths;
    uint32_t count[COMPACT_HISTOGRAM];
};

/* Cells of one width. */
static void count_cells(const int64_t value[], unsigned n, unsigned width, int shift, struct counts *counts)
{
    unsigned log2 = (unsigned)__builtin_ctz(width);
    for (unsigned i = 0; i < n; i++)
        counts->count[(log2 - COMPACT_LEAST) * COMPACT_BUCKETS + bucket(value[i] >> shift)]++;
    counts->cells += n;
    counts->widths += n * log2;
}

/* Of a row, those cells that two have become are in the middle: step_width(). */
static void count_row(const int64_t value[], struct row row, int shift, struct counts *counts)
{
    unsigned half = row.from / 2, first = row.cells - half;
    count_cells(value, first, row.from, shift, counts);
    count_cells(value + first, half - first, half, shift, counts);
    count_cells(value + half, first, row.from, shift, counts);
}

/* With values shifted by so much. */
static void count_blocks(const struct blocks *blocks, const uint32_t scanned[], unsigned n, int shift,
                         struct counts *counts)
{
    struct content content;
    memset(counts, 0, sizeof *counts);
    for (unsigned i = 0; i < n; i++) {
        blocks->kernels->open(&blocks->block[scanned[i]], blocks->whole, &content);
        struct row row = step_row(content.step, 0);
        for (unsigned c = 0; c < row.cells; c++) counts->mass += (double)content.value[c];
        count_row(content.value, row, shift, counts);
        count_row(content.value + row.cells, step_row(content.step, 1), shift, counts);
    }
}

bool compact_look(const struct blocks *blocks, struct compact_view *view)
{
    uint32_t scanned[COMPACT_SCANNED];
    struct counts counts;
    unsigned n = find_scanned(blocks, scanned);
    if (n == 0) return false;
    count_blocks(blocks, scanned, n, 0, &counts);
    double mean = fmax(counts.mass, 0) / n;
    int shift = shift_for(mean);
    if (shift > 0) count_blocks(blocks, scanned, n, shift, &counts);
    for (unsigned i = 0; i < COMPACT_HISTOGRAM; i++)
        view->cells[i] = counts.count[i] ? (float)(4 * sqrt((double)counts.count[i] / counts.cells)) : 0;
    view->facts[0] = (float)(log(ldexp(mean, -shift) + 1) / 5);
    view->facts[1] = (float)((double)counts.widths / counts.cells / 8);
    return true;
}

/* ---- an item ----------------------------------------------------------------------------------------------------- */

static double mean_mass(const struct blocks *blocks)
{
    return (blocks->total > 0 ? (double)blocks->total : 0) / blocks->blocks;
}

/* The mass of all blocks of a cap, over that of one. */
static double blocks_in_cap(const struct blocks *blocks)
{
    return (double)blocks->blocks / blocks_caps(blocks->blocks, blocks->most);
}

/* Least first, and of equal ones the first first. */
static void sort_values(const struct reading *reading, unsigned order[DECODE_VALUES])
{
    for (unsigned k = 0; k < DECODE_VALUES; k++) {
        unsigned i = k;
        for (; i > 0 && decode_seen(reading->value[order[i - 1]]) > decode_seen(reading->value[k]); i--)
            order[i] = order[i - 1];
        order[i] = k;
    }
}

void compact_reads(const struct blocks *blocks, const struct reading *reading, float reads[COMPACT_READS])
{
    double mean = mean_mass(blocks);
    int shift = shift_for(mean);
    unsigned order[DECODE_VALUES];
    sort_values(reading, order);
    for (unsigned i = 0; i < DECODE_VALUES; i++) {
        unsigned k = order[i];
        double m = ldexp((double)decode_seen(reading->value[k]), -shift);
        double noise = (k == 2 ? blocks_in_cap(blocks) : 1) * ldexp(mean, -shift) / reading->width[k];
        reads[i] = (float)(log1p(m) / 5) - (i > 0 ? reads[0] : 0);
        reads[3 + i] = (float)__builtin_ctz(reading->width[k]) / 8;
        reads[6 + i] = (float)(log((m + 0.5) / (noise + 0.5)) / 3);
    }
    reads[9] = (float)(reading->step - STEP_SHARE) / 32;
}

/* ---- the networks ------------------------------------------------------------------------------------------------ */

/* y = act(W x + b); the scalar truth, in doubles. */
static void layer(const float *w, int in, int out, double slope, const double x[], double y[])
{
    for (int o = 0; o < out; o++) {
        double sum = (double)w[in * out + o];
        for (int i = 0; i < in; i++) sum += (double)w[o * in + i] * x[i];
        y[o] = sum < 0 ? slope * sum : sum;
    }
}

#define LAYER(name, slope, x, y) layer(weights + COMPACT_AT_##name, COMPACT_IN_##name, COMPACT_OUT_##name, slope, x, y)

/* Layer CELLS. Most buckets are empty, and add nothing. Eight sums go side by side, or each addition would wait for the
 * one before. */
static void see_cells(const float *w, const float cells[COMPACT_HISTOGRAM], double seen[COMPACT_OUT_CELLS])
{
    const float *bias = w + COMPACT_HISTOGRAM * COMPACT_OUT_CELLS;
    unsigned n = 0, at[COMPACT_HISTOGRAM];
    for (unsigned i = 0; i < COMPACT_HISTOGRAM; i++) {
        at[n] = i;
        n += cells[i] > 0;
    }
    for (int o = 0; o < COMPACT_OUT_CELLS; o += 8) {
        double sum[8];
        for (int k = 0; k < 8; k++) sum[k] = (double)bias[o + k];
        for (unsigned i = 0; i < n; i++) {
            double x = (double)cells[at[i]];
            for (int k = 0; k < 8; k++) sum[k] += (double)w[(o + k) * COMPACT_HISTOGRAM + (int)at[i]] * x;
        }
        for (int k = 0; k < 8; k++) seen[o + k] = sum[k] < 0 ? NETWORK_LEAKY * sum[k] : sum[k];
    }
}

void compact_scan(const float *weights, const struct compact_view *view, double stream[COMPACT_STREAM])
{
    double seen[COMPACT_IN_FACTS], mixed[COMPACT_OUT_FACTS];
    see_cells(weights + COMPACT_AT_CELLS, view->cells, seen);
    for (int i = 0; i < COMPACT_FACTS; i++) seen[COMPACT_OUT_CELLS + i] = (double)view->facts[i];
    LAYER(FACTS, NETWORK_LEAKY, seen, mixed);
    LAYER(STREAM, NETWORK_LINEAR, mixed, stream);
}

double compact_decode(const float *weights, const double stream[COMPACT_STREAM], const float reads[COMPACT_READS])
{
    double x[COMPACT_IN_READS], a[COMPACT_OUT_READS], b[COMPACT_OUT_MIX], h;
    for (int i = 0; i < COMPACT_READS; i++) x[i] = (double)reads[i];
    memcpy(x + COMPACT_READS, stream, COMPACT_STREAM * sizeof *stream);
    LAYER(READS, NETWORK_LEAKY, x, a);
    LAYER(MIX, NETWORK_LEAKY, a, b);
    LAYER(ANSWER, NETWORK_LINEAR, b, &h);
    return h;
}

/* ---- for the kernels --------------------------------------------------------------------------------------------- */

_Static_assert((int)DECODE_READS == (int)COMPACT_READS && (int)DECODE_HIDDEN == (int)COMPACT_OUT_READS &&
                   (int)DECODE_MIXED == (int)COMPACT_OUT_MIX,
               "the kernels know the sizes of the layers");

void compact_pack(const float *weights, struct decode_weights *packed)
{
    const float *reads = weights + COMPACT_AT_READS, *mix = weights + COMPACT_AT_MIX;
    const float *answer = weights + COMPACT_AT_ANSWER;
    *packed = (struct decode_weights){.answer_bias = answer[DECODE_MIXED]};
    for (int o = 0; o < DECODE_HIDDEN; o++)
        for (int i = 0; i < DECODE_READS; i++) packed->reads[i][o] = reads[o * COMPACT_IN_READS + i];
    for (int o = 0; o < DECODE_MIXED; o++) {
        for (int i = 0; i < DECODE_HIDDEN; i++) packed->mix[i][o] = mix[o * COMPACT_IN_MIX + i];
        packed->mix_bias[o] = mix[COMPACT_IN_MIX * COMPACT_OUT_MIX + o];
        packed->answer[o] = answer[o];
    }
}

void compact_bias(const float *weights, const double stream[COMPACT_STREAM], float bias[DECODE_HIDDEN_ROOM])
{
    const float *w = weights + COMPACT_AT_READS;
    for (int o = 0; o < DECODE_HIDDEN_ROOM; o++) {
        double sum = 0;
        for (int i = 0; i < COMPACT_STREAM && o < DECODE_HIDDEN; i++)
            sum += (double)w[o * COMPACT_IN_READS + COMPACT_READS + i] * stream[i];
        bias[o] = o < DECODE_HIDDEN ? (float)((double)w[COMPACT_IN_READS * COMPACT_OUT_READS + o] + sum) : 0;
    }
}

void compact_bias_of(const lego_model *model, const struct blocks *blocks, float bias[DECODE_HIDDEN_ROOM], bool *any)
{
    struct compact_view view;
    double stream[COMPACT_STREAM];
    *any = compact_look(blocks, &view);
    if (!*any) return;
    compact_scan(model->weights, &view, stream);
    compact_bias(model->weights, stream, bias);
}

void compact_scale(const struct blocks *blocks, struct decode_stream *stream)
{
    double mean = mean_mass(blocks);
    int shift = shift_for(mean);
    stream->scale = (float)ldexp(1, -shift);
    stream->mean = (float)ldexp(mean, -shift);
    stream->cap_mean = (float)(ldexp(mean, -shift) * blocks_in_cap(blocks));
}
