/* compact: see compact.h for the networks. */
#include "compact.h"

#include <math.h>
#include <string.h>

#include "network.h"

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

/* By how many bits values are shifted down: none up to a mean of 2^16 a block. */
static int shift_for(double mean)
{
    int exponent;
    frexp(mean, &exponent); /* mean < 2^exponent */
    return mean > 0 && exponent > 17 ? exponent - 17 : 0;
}

void compact_look(const struct dense *dense, struct compact_view *view)
{
    uint32_t count[COMPACT_HISTOGRAM] = {0}, cells = 0, widths = 0;
    uint32_t blocks = dense->blocks < COMPACT_SCANNED ? dense->blocks : COMPACT_SCANNED;
    int64_t value[BLOCK_CELLS];
    double mass = 0;
    for (uint32_t i = 0; i < blocks; i++) {
        block_unpack(&dense->block[i], value);
        for (unsigned c = 0; c < block_columns[block_step(&dense->block[i])][0]; c++) mass += (double)value[c];
    }
    double mean = mass > 0 ? mass / blocks : 0;
    int shift = shift_for(mean);
    for (uint32_t i = 0; i < blocks; i++) {
        const int64_t *at = value;
        block_unpack(&dense->block[i], value);
        for (unsigned k = 0; k < 2; k++) {
            uint32_t columns = block_columns[block_step(&dense->block[i])][k], width = log2_of(columns);
            for (uint32_t c = 0; c < columns; c++) count[(width - 1) * COMPACT_BUCKETS + bucket(*at++ >> shift)]++;
            cells += columns;
            widths += columns * width;
        }
    }
    for (unsigned i = 0; i < COMPACT_HISTOGRAM; i++) view->cells[i] = (float)(4 * sqrt((double)count[i] / cells));
    view->facts[0] = (float)(log(ldexp(mean, -shift) + 1) / 5);
    view->facts[1] = (float)((double)widths / cells / 8);
}

void compact_reads(const struct dense *dense, unsigned rows, const int64_t value[], const uint32_t columns[],
                   float reads[COMPACT_READS])
{
    double mean = (dense->total > 0 ? (double)dense->total : 0) / dense->blocks;
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

#define LAYER(name, slope, x, y) \
    layer(weights + COMPACT_AT_##name, COMPACT_IN_##name, COMPACT_OUT_##name, slope, x, y)

void compact_scan(const float *weights, const struct compact_view *view, double stream[COMPACT_STREAM])
{
    double cells[COMPACT_HISTOGRAM], joined[24 + COMPACT_FACTS], mixed[24];
    for (int i = 0; i < COMPACT_HISTOGRAM; i++) cells[i] = (double)view->cells[i];
    LAYER(CELLS, NETWORK_LEAKY, cells, joined);
    for (int i = 0; i < COMPACT_FACTS; i++) joined[24 + i] = (double)view->facts[i];
    LAYER(FACTS, NETWORK_LEAKY, joined, mixed);
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
