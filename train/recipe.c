/* recipe: the fields of a recipe, and the nets that recipes are of. */
#include "little.h"
#include "train.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { PAPER = 1 << NET_PAPER, MS = 1 << NET_MS, ALL = PAPER | MS };

#define FIELD(name, option, kind, nets, member)                                                                        \
    {                                                                                                                  \
        name, option, FIELD_##kind, nets, offsetof(struct recipe, member)                                              \
    }
const struct recipe_field recipe_fields[RECIPE_FIELDS] = {
    FIELD("seed", "--seed", U64, ALL, seed),
    FIELD("tasks", "--tasks", U64, ALL, tasks),
    FIELD("batch", "--batch", U32, ALL, batch),
    FIELD("rate", "--rate", REAL, ALL, rate),
    FIELD("n_min", "--n-min", U32, ALL, n_min),
    FIELD("n_max", NULL, U32, ALL, n_max),
    FIELD("alpha_min", NULL, REAL, ALL, alpha_min),
    FIELD("alpha_max", "--alpha-max", REAL, ALL, alpha_max),
    FIELD("scale_min", "--scale-min", REAL, ALL, scale_min),
    FIELD("scale_max", "--scale-max", REAL, ALL, scale_max),
    FIELD("rate_v", "--rate-v", REAL, PAPER, rate_table),
    FIELD("fall", "--fall", U32, PAPER, fall),
    FIELD("last_step", "--last-step", FLAG, PAPER, last_step),
    FIELD("scouts", "--scouts", U64, PAPER, scouts),
    FIELD("scout_n_min", NULL, U32, PAPER, scout_n_min),
    FIELD("scout_alpha_max", "--scout-alpha", REAL, PAPER, scout_alpha_max),
    FIELD("from_rule", "--from-rule", FLAG, PAPER, from_rule),
    FIELD("fixed_v", "--fixed-v", FLAG, PAPER, fixed_table),
    FIELD("no_normalisation", "--no-normalisation", FLAG, PAPER, no_norm),
    FIELD("no_scan", "--no-scan", FLAG, PAPER, no_scan),
    FIELD("plain_loss", "--plain-loss", FLAG, PAPER, plain_loss),
    FIELD("log_scale", NULL, FLAG, MS, log_scale),
    FIELD("rate_end", "--rate-end", REAL, MS, rate_end),
};

static const size_t sizes[] = {[FIELD_U64] = sizeof(uint64_t),
                               [FIELD_U32] = sizeof(uint32_t),
                               [FIELD_REAL] = sizeof(double),
                               [FIELD_FLAG] = sizeof(bool)};

/* Through the bytes of a file, whose order makes a narrow field the low end of a wide one on every machine. */
uint64_t recipe_bits(const struct recipe *recipe, const struct recipe_field *field)
{
    unsigned char bytes[8] = {0};
    uint64_t bits;
    little(bytes, (const char *)recipe + field->at, sizes[field->kind], 1);
    little(&bits, bytes, sizeof bits, 1);
    return bits;
}

void recipe_set_bits(struct recipe *recipe, const struct recipe_field *field, uint64_t bits)
{
    if (field->kind == FIELD_FLAG) bits = bits != 0; /* a bool that is neither is no bool */
    unsigned char bytes[8];
    little(bytes, &bits, sizeof bits, 1);
    little((char *)recipe + field->at, bytes, sizes[field->kind], 1);
}

void recipe_text(const struct recipe *recipe, const struct recipe_field *field, char text[RECIPE_TEXT])
{
    uint64_t bits = recipe_bits(recipe, field);
    double real;
    memcpy(&real, &bits, sizeof real);
    if (field->kind == FIELD_REAL) snprintf(text, RECIPE_TEXT, "%g", real);
    else if (field->kind == FIELD_FLAG) snprintf(text, RECIPE_TEXT, "%s", bits ? "true" : "false");
    else snprintf(text, RECIPE_TEXT, "%" PRIu64, bits);
}

bool recipe_difference(const struct recipe *made, const struct recipe *asked, char *text, size_t size)
{
    if (made->net != asked->net) {
        snprintf(text, size, "for the net %s, not %s", net_of(made)->name, net_of(asked)->name);
        return true;
    }
    for (const struct recipe_field *f = recipe_fields; f < recipe_fields + RECIPE_FIELDS; f++) {
        char ours[RECIPE_TEXT], theirs[RECIPE_TEXT];
        if (recipe_bits(made, f) == recipe_bits(asked, f)) continue;
        recipe_text(made, f, ours);
        recipe_text(asked, f, theirs);
        if (!f->option) snprintf(text, size, "with another --preset: %s %s, not %s", f->name, ours, theirs);
        else if (f->kind == FIELD_FLAG)
            snprintf(text, size, "%s %s", recipe_bits(made, f) ? "with" : "without", f->option);
        else snprintf(text, size, "with %s %s, not %s", f->option, ours, theirs);
        return true;
    }
    return false;
}

/* ---- nets -------------------------------------------------------------------------------------------------------- */

const struct net *net_of(const struct recipe *recipe)
{
    static const struct net *const nets[NETS] = {[NET_PAPER] = &net_paper, [NET_MS] = &net_ms};
    return recipe->net < NETS ? nets[recipe->net] : NULL;
}

const char *recipe_problem(const struct recipe *recipe)
{
    if (!net_of(recipe)) return "there is no such net";
    if (recipe->tasks == 0 || recipe->tasks > UINT64_C(1) << 48) return "the tasks are not from 1 to 2^48";
    if (!(recipe->rate >= 0 && recipe->rate <= 1)) return "the learning rate is not from 0 to 1";
    return net_of(recipe)->problem(recipe);
}

void state_start(const struct recipe *recipe, struct state *state)
{
    memset(state, 0, sizeof *state);
    net_of(recipe)->start(recipe, state);
    memcpy(state->average, state->parameters, sizeof state->average);
}
