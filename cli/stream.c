/* From files to batches of items; see stream.h. While one batch is worked on the next is read and parsed, nothing more:
 * a message, the bar and the sink wait for their turn, and all is as if there were one thread. */
#include "stream.h"

#include "input.h"
#include "progress.h"
#include "say.h"

#include <inttypes.h>

enum { REPORTS_MAX = 10 }; /* malformed lines named one by one before there is only a total */

bool stream_malformed(stream *self, uint64_t line, const char *what)
{
    self->malformed++;
    if (self->policy == ON_ERROR_STOP || self->malformed <= REPORTS_MAX) say_at(self->file, line, what);
    return self->policy == ON_ERROR_SKIP;
}

const void *stream_item(const item_batch *batch, size_t i, unsigned char buffer[8], size_t *size)
{
    if (batch->keys == NULL) {
        *size = (size_t)(batch->offsets[i + 1] - batch->offsets[i]);
        return batch->bytes + batch->offsets[i];
    }
    stream_key(batch->keys[i], buffer);
    *size = 8;
    return buffer;
}

static void *work(void *argument)
{
    stream *self = argument;
    self->work(self->context, &self->at_work);
    return NULL;
}

/* Gives the sink the batch that is worked on, if there is one. */
static bool settle(stream *self)
{
    if (self->at_work.n == 0) return true;
    pthread_join(self->worker, NULL);
    item_batch done = self->at_work;
    self->at_work.n = 0;
    return self->sink(self->context, self, &done);
}

static bool take_batch(stream *self, const item_batch *batch)
{
    if (!settle(self)) return false;
    self->items += batch->n;
    if (self->work != NULL) {
        self->at_work = *batch;
        if (pthread_create(&self->worker, NULL, work, self) == 0) return true;
        self->at_work.n = 0;
        self->work(self->context, batch); /* one thread has to do */
    }
    return self->sink(self->context, self, batch);
}

/* What the parser found: hands on a batch, reports a line. */
static bool handle(stream *self, const item_parser *parser, item_event event)
{
    switch (event) {
    case ITEMS_BATCH: return take_batch(self, &parser->batch);
    case ITEMS_BAD: return settle(self) && stream_malformed(self, parser->bad.line, parser->bad.what);
    case ITEMS_NO_MEMORY: return say_no_memory();
    case ITEMS_MORE: break;
    }
    return true;
}

static bool parse_block(stream *self, item_parser *parser, const unsigned char *block, size_t size)
{
    const unsigned char *at = block, *end = block + size;
    item_event event;
    while ((event = items_parse(parser, &at, end)) != ITEMS_MORE) {
        if (!handle(self, parser, event)) return false;
    }
    return !self->prompt || handle(self, parser, items_flush(parser));
}

static bool read_blocks(stream *self, input *from, item_parser *parser)
{
    const unsigned char *block;
    size_t size;
    for (;;) {
        if (!input_next(from, &block, &size)) return false;
        if (size == 0) break;
        if (!parse_block(self, parser, block, size)) return false;
        progress_update(self->done, self->items + items_pending(parser));
    }
    item_event event;
    while ((event = items_finish(parser)) != ITEMS_MORE) {
        if (!handle(self, parser, event)) return false;
    }
    return settle(self);
}

static bool read_file(stream *self, const char *path)
{
    input *from;
    item_parser parser;
    if (!input_open(&from, path, &self->done)) return false;
    self->file = input_name(from);
    bool ok = (items_open(&parser, self->format) || say_no_memory()) && read_blocks(self, from, &parser);
    if (self->at_work.n > 0) { /* something failed meanwhile */
        pthread_join(self->worker, NULL);
        self->at_work.n = 0;
    }
    items_close(&parser);
    input_close(from);
    return ok;
}

bool stream_read(stream *self, char *const *paths, int count)
{
    static char dash[] = "-";
    static char *const only_stdin[] = {dash};
    if (count == 0) {
        paths = only_stdin;
        count = 1;
    }
    uint64_t total;
    if (!input_measure(paths, count, &total)) return false;
    progress_begin(self->label, total, self->quiet);
    bool ok = true;
    for (int i = 0; i < count && ok; i++) ok = read_file(self, paths[i]);
    progress_end();
    if (ok && self->malformed > 0)
        say("skipped %" PRIu64 " malformed %s", self->malformed, self->malformed == 1 ? "line" : "lines");
    return ok;
}
