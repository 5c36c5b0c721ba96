/* The secret seeds that this database knows; see secrets.h.
 *
 * The table is read by the module itself, whoever calls: its rows are for its owner alone (sql/legosketch--1.0.sql),
 * but everybody may count with them. A trigger tells all processes of a row that changes, as they are told of a table
 * whose columns do. So a process that has read the table need not look again, however many sketches it loads.
 *
 * SPDX-License-Identifier: MIT */
#include "secrets.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include <inttypes.h>
#include <string.h>

/* One that was ever read. It is never freed: aggregates hold its bytes, also while the table is read anew. */
struct secret {
    struct secret *next;
    uint64_t fingerprint;
    TimestampTz made;
    bool known; /* it is in the table */
    unsigned char bytes[LEGO_SECRET_SIZE];
};

static struct secret *all, *oldest;
static Oid table;                    /* that they were read from */
static uint64 changes = 1, read_for; /* of the table; the last of them before it was read */
static bool wanted = true;           /* the setting */

void secrets_define_setting(void)
{
    DefineCustomBoolVariable("legosketch.secret_seeds", "New sketches have the secret seed of this database.",
                             "Off: they have the public seed 0, as sketches of other programs that were given none.",
                             &wanted, true, PGC_USERSET, 0, NULL, NULL, NULL);
#if PG_VERSION_NUM >= 150000
    MarkGUCPrefixReserved("legosketch");
#else
    EmitWarningsOnPlaceholders("legosketch");
#endif
}

/* ---- one secret -------------------------------------------------------------------------------------------------- */

static const unsigned char *require_secret(const bytea *secret)
{
    static const unsigned char zeros[LEGO_SECRET_SIZE / 2];
    const unsigned char *bytes = (const unsigned char *)VARDATA_ANY(secret);
    if (VARSIZE_ANY_EXHDR(secret) != LEGO_SECRET_SIZE || memcmp(bytes + sizeof zeros, zeros, sizeof zeros) == 0)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("legosketch: a secret is 16 bytes, of which the last 8 are not all 0"),
                errhint("It is random, and written as \\x and 32 hexadecimal digits."));
    return bytes;
}

/* What lego_info() shows of it. */
SQL_FUNCTION(secret_fingerprint)
{
    uint64_t fingerprint = lego_secret_fingerprint(require_secret(PG_GETARG_BYTEA_PP(0)));
    PG_RETURN_TEXT_P(cstring_to_text(psprintf("%016" PRIx64, fingerprint)));
}

static struct secret *secret_of(const unsigned char *bytes)
{
    for (struct secret *secret = all; secret != NULL; secret = secret->next)
        if (memcmp(secret->bytes, bytes, LEGO_SECRET_SIZE) == 0) return secret;
    struct secret *made = MemoryContextAllocZero(TopMemoryContext, sizeof *made);
    memcpy(made->bytes, bytes, LEGO_SECRET_SIZE);
    made->fingerprint = lego_secret_fingerprint(bytes);
    made->next = all;
    return all = made;
}

/* Of two that were made at once, all servers choose the same. */
static bool is_older(const struct secret *a, const struct secret *b)
{
    return a->made != b->made ? a->made < b->made : memcmp(a->bytes, b->bytes, LEGO_SECRET_SIZE) < 0;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static void note_change(Datum argument, Oid relation)
{
    if (!OidIsValid(relation) || relation == table) changes++;
}

/* Every row that changes comes here. */
SQL_FUNCTION(secrets_changed)
{
    if (!CALLED_AS_TRIGGER(fcinfo))
        ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                errmsg("legosketch: this is the trigger of lego_secrets"),
                errhint("It runs where rows of that table change."));
    const TriggerData *trigger = (TriggerData *)fcinfo->context;
    if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event)) /* which row security does not keep from anybody */
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("legosketch: without lego_secrets no sketch with a secret seed can be read"),
                errhint("Leave it out of TRUNCATE; DELETE removes single rows."));
    CacheInvalidateRelcache(trigger->tg_relation);
    return PointerGetDatum(NULL);
}

/* The schema that the extension is in; InvalidOid: it is in none. */
static Oid find_schema(void)
{
    ScanKeyData name;
    ScanKeyInit(&name, Anum_pg_extension_extname, BTEqualStrategyNumber, F_NAMEEQ, CStringGetDatum("legosketch"));
    Relation extensions = table_open(ExtensionRelationId, AccessShareLock);
    SysScanDesc scan = systable_beginscan(extensions, InvalidOid, false, NULL, 1, &name);
    HeapTuple row = systable_getnext(scan);
    Oid schema = HeapTupleIsValid(row) ? ((Form_pg_extension)GETSTRUCT(row))->extnamespace : InvalidOid;
    systable_endscan(scan);
    table_close(extensions, AccessShareLock);
    return schema;
}

static void refuse_table(void)
{
    ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
            errmsg("legosketch: the table lego_secrets is not there, or not as CREATE EXTENSION makes it"),
            errhint("It has to be in the schema of the extension, with its columns secret and made."));
}

/* Its owner may have changed it. */
static AttrNumber column(Relation relation, const char *name, Oid type)
{
    AttrNumber number = get_attnum(RelationGetRelid(relation), name);
    if (number <= 0 || get_atttype(RelationGetRelid(relation), number) != type) refuse_table();
    return number;
}

static void read_row(HeapTuple row, TupleDesc columns, AttrNumber secret_at, AttrNumber made_at)
{
    bool no_secret, no_date;
    Datum bytes = heap_getattr(row, secret_at, columns, &no_secret),
          made = heap_getattr(row, made_at, columns, &no_date);
    if (no_secret || no_date) refuse_table();
    struct secret *secret = secret_of(require_secret(DatumGetByteaPP(bytes)));
    /* It may be there twice, as after a restore. */
    if (!secret->known || DatumGetTimestampTz(made) < secret->made) secret->made = DatumGetTimestampTz(made);
    secret->known = true;
    if (oldest == NULL || is_older(secret, oldest)) oldest = secret;
}

/* A change that comes while it is being read counts as one after it. */
static void read_table(void)
{
    table = get_relname_relid("lego_secrets", find_schema());
    if (!OidIsValid(table)) refuse_table();
    uint64 before = changes;
    Relation relation = table_open(table, AccessShareLock);
    if (relation->rd_rel->relkind != RELKIND_RELATION) refuse_table();
    AttrNumber secret_at = column(relation, "secret", BYTEAOID), made_at = column(relation, "made", TIMESTAMPTZOID);
    oldest = NULL;
    for (struct secret *secret = all; secret != NULL; secret = secret->next) secret->known = false;
    SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
    for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));)
        read_row(row, RelationGetDescr(relation), secret_at, made_at);
    systable_endscan(scan);
    table_close(relation, AccessShareLock);
    read_for = before;
}

static inline void require_current(void)
{
    if (likely(read_for == changes)) return;
    static bool listening = false;
    if (!listening) CacheRegisterRelcacheCallback(note_change, (Datum)0);
    listening = true;
    read_table();
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

const void *secrets_for_new(void)
{
    if (!wanted) return NULL;
    AcceptInvalidationMessages(); /* also of what was committed since this transaction began */
    require_current();
    if (oldest == NULL)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("legosketch: there is no secret seed: the table lego_secrets is empty"),
                errhint("INSERT a secret INTO lego_secrets, or give a seed, or SET legosketch.secret_seeds = off."));
    return oldest->bytes;
}

static const void *find_known(uint64_t fingerprint)
{
    require_current();
    for (const struct secret *secret = all; secret != NULL; secret = secret->next)
        if (secret->known && secret->fingerprint == fingerprint) return secret->bytes;
    return NULL;
}

const void *secrets_find(uint64_t fingerprint)
{
    const void *found = find_known(fingerprint);
    if (found != NULL) return found;
    AcceptInvalidationMessages();
    return find_known(fingerprint);
}
