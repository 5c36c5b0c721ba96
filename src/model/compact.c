/* compact: see compact.h for the networks. */
#include "model/compact.h"

#include <math.h>
#include <string.h>

#include "model/network.h"

/* 0 to 8 as they are, then two an octave. */
static unsigned bucket(int64_t value)
{
    if (value <= 8) return value > 0 ? (unsigned)value : 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)value), upper = (uint64_t)value >> (octave - 1) & 1;
    unsigned b = 9 + 2 * (octave - 3) + upper;
    return b < COMPACT_BUCKETS ? b : COMPACT_BUCKETS - 1;
}

static unsigned log2_of(uint32_t power)
{
    return 31 - (unsigned)__builtin_clz(power);
}

/* By how many bits values are shifted down: none below a mean of 2^17 a block. */
static int shift_for(double mean)
{
    int exponent;
    if (mean < 131072) return 0; /* nearly always */
    frexp(mean, &exponent);      /* mean < 2^exponent */
    return exponent - 17;
}

/* Which count a cell belongs to. */
static unsigned place_of(const struct compact_counts *counts, uint32_t columns, int64_t value)
{
    return (log2_of(columns) - 1) * COMPACT_BUCKETS + bucket(value >> counts->shift);
}

static double mean_of(const struct compact_counts *counts)
{
    return counts->mass > 0 ? (double)counts->mass / counts->blocks : 0;
}

/* With values shifted by so much. */
static void count_blocks(const struct dense *dense, int shift, struct compact_counts *counts)
{
    *counts = (struct compact_counts){.blocks = dense->blocks < COMPACT_SCANNED ? dense->blocks : COMPACT_SCANNED,
                                      .shift = shift};
    for (uint32_t i = 0; i < counts->blocks; i++) {
        int64_t value[BLOCK_CELLS], *at = value;
        dense->kernels->unpack(&dense->block[i], value);
        for (unsigned k = 0; k < 2; k++) {
            uint32_t columns = block_columns[block_step(&dense->block[i])][k];
            for (uint32_t c = 0; c < columns; c++, at++) {
                if (k == 0) counts->mass += *at;
                counts->count[place_of(counts, columns, *at)]++;
            }
            counts->cells += columns;
            counts->widths += columns * log2_of(columns);
        }
    }
}

void compact_count(const struct dense *dense, struct compact_counts *counts)
{
    count_blocks(dense, 0, counts);
    int shift = shift_for(mean_of(counts));
    if (shift > 0) count_blocks(dense, shift, counts);
}

bool compact_recount(struct compact_counts *counts, unsigned row, uint32_t columns, int64_t before, int64_t after)
{
    counts->count[place_of(counts, columns, before)]--;
    counts->count[place_of(counts, columns, after)]++;
    if (row != 0) return true;
    counts->mass += after - before;
    return shift_for(mean_of(counts)) == counts->shift;
}

void compact_look(const struct compact_counts *counts, struct compact_view *view)
{
    for (unsigned i = 0; i < COMPACT_HISTOGRAM; i++)
        view->cells[i] = counts->count[i] ? (float)(4 * sqrt((double)counts->count[i] / counts->cells)) : 0;
    view->facts[0] = (float)(log(ldexp(mean_of(counts), -counts->shift) + 1) / 5);
    view->facts[1] = (float)((double)counts->widths / counts->cells / 8);
}

static double mean_mass(const struct dense *dense)
{
    return (dense->total > 0 ? (double)dense->total : 0) / dense->blocks;
}

void compact_reads(const struct dense *dense, unsigned rows, const int64_t value[], const uint32_t columns[],
                   float reads[COMPACT_READS])
{
    double mean = mean_mass(dense);
    int shift = shift_for(mean);
    unsigned order[BLOCK_ROWS];
    for (unsigned k = 0; k < rows; k++) { /* insertion sort, least read first */
        unsigned i = k;
        for (; i > 0 && value[order[i - 1]] > value[k]; i--) order[i] = order[i - 1];
        order[i] = k;
    }
    memset(reads, 0, COMPACT_READS * sizeof *reads);
    for (unsigned i = 0; i < rows; i++) {
        unsigned k = order[i];
        double m = ldexp(value[k] > 0 ? (double)value[k] : 0, -shift), noise = ldexp(mean, -shift) / columns[k];
        reads[i] = (float)(log1p(m) / 5) - (i > 0 ? reads[0] : 0);
        reads[4 + i] = (float)log2_of(columns[k]) / 8;
        reads[8 + i] = (float)(log((m + 0.5) / (noise + 0.5)) / 3);
        if (i >= 2) reads[10 + i] = 1;
    }
}

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
    double x[COMPACT_READS + COMPACT_STREAM], a[40], b[24], h;
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

void compact_scale(const struct dense *dense, struct decode_stream *stream)
{
    double mean = mean_mass(dense);
    int shift = shift_for(mean);
    stream->scale = shift > 0 ? (float)ldexp(1, -shift) : 1;
    stream->mean = shift > 0 ? (float)ldexp(mean, -shift) : (float)mean;
}
