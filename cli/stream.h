/* From files to batches of items: reading, parsing, what to do about malformed lines, and the progress bar. */
#pragma once

#include "items.h"
#include "options.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The words of --on-error, in the order of the enum. */
typedef enum on_error { ON_ERROR_STOP, ON_ERROR_SKIP } on_error;
#define ON_ERROR_CHOICES "stop|skip"

/* What options say of the input, the same ones for each command that has some. */
typedef struct reading {
    int format; /* an item_format; -1: as the name of each file says */
    int policy; /* an on_error */
    bool keep_cr, keep_nul, no_header;
    const char *column, *delimiter;
} reading;

#define READING_INIT                                                                                                   \
    {                                                                                                                  \
        .format = -1                                                                                                   \
    }

#define OPTIONS_KEEP(given)                                                                                            \
    {"keep-cr", 0, OPTION_FLAG, NULL, &(given).keep_cr, "lines end in LF alone: a CR before it is part of the item"},  \
    {                                                                                                                  \
        "keep-nul", 0, OPTION_FLAG, NULL, &(given).keep_nul, "lines may have NUL bytes, which otherwise are refused"   \
    }

#define OPTIONS_READING(given)                                                                                         \
    {"format",                                                                                                         \
     'f',                                                                                                              \
     OPTION_CHOICE,                                                                                                    \
     FORMAT_CHOICES,                                                                                                   \
     &(given).format,                                                                                                  \
     "lines: an item a line; tsv: item TAB count, the count signed; csv: a column of a table; uniq: what 'uniq -c' "   \
     "writes; u32, u64: raw little-endian keys (by the name: .tsv, .csv, .u32, .u64, else lines)"},                    \
        {"column",        0,                                                                                           \
         OPTION_TEXT,     "NAME|N",                                                                                    \
         &(given).column, "of csv, or of a .tsv with a header: the column to count, by its name or number"},           \
        {"delimiter", 0, OPTION_TEXT, "C", &(given).delimiter, "what separates columns; \\t is a tab (a comma)"},      \
        {"no-header", 0, OPTION_FLAG, NULL, &(given).no_header, "the first line of a table counts like the others"},   \
        OPTIONS_KEEP(given),                                                                                           \
    {                                                                                                                  \
        "on-error", 0, OPTION_CHOICE, ON_ERROR_CHOICES, &(given).policy,                                               \
            "at a malformed line: stop, or skip it (stop)"                                                             \
    }

/* Whether the options go together; if not, says what is wrong with the command line. */
bool reading_check(const command *self, const reading *given);

/* The format that a file's name stands for, and the length of its path without what says so. */
item_format reading_format(const char *path, size_t *stem);

typedef struct stream stream;

/* What can be done with a batch on another thread while the next one is read and parsed. It says nothing. */
typedef void (*stream_work)(void *context, const item_batch *batch);

/* Takes a batch, once the work on it is done; says what went wrong before it returns false. */
typedef bool (*stream_sink)(void *context, stream *from, const item_batch *batch);

struct stream {
    const reading *how;
    const char *output; /* what must not be among the input; NULL: standard output */
    const char *into;   /* a sketch that has items of a kind, of which the input has to be; NULL: there is none */
    lego_kind kind;
    bool quiet;
    bool prompt;       /* give batches as soon as there is something, for a person or program that waits for answers */
    const char *label; /* of the progress bar */
    stream_work work;  /* or NULL */
    stream_sink sink;
    void *context; /* of both */

    const char *file; /* the one being read; the rest is the stream's own */
    uint64_t items, malformed, done;
    item_batch at_work; /* until the sink has it; n is 0 if there is none */
    pthread_t worker;
};

/* Reads the files one after another, or standard input if there are none. False if anything failed, which is said. */
bool stream_read(stream *self, char *const *paths, int count);

/* Reports "file:line: what"; true if the policy is to go on. */
bool stream_malformed(stream *self, uint64_t line, const char *what);

/* An integer as the item it is: its 8 bytes, the least first. */
static inline void stream_key(uint64_t key, unsigned char bytes[8])
{
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(key >> (8 * i));
}

/* Item i of a batch as bytes: the text itself, or `buffer` with the key in 8 little-endian bytes. */
const void *stream_item(const item_batch *batch, size_t i, unsigned char buffer[8], size_t *size);
