-- The extension legosketch: a type, aggregates, sums and differences, questions. docs/postgres.md is the manual.
\echo Use "CREATE EXTENSION legosketch" to load this file. \quit

-- ---- secret seeds: rows that this database knows. The oldest is what new sketches get -------------------------------
--
-- Whoever made the extension owns the table, so pg_dump runs without a superuser; nobody else sees its rows, also if all
-- tables are granted to them. There is no key, at which a restore could fail: it brings the rows of another database.

CREATE FUNCTION lego_secret_fingerprint(secret bytea) RETURNS text
    AS 'MODULE_PATHNAME', 'legosketch_secret_fingerprint' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION lego_secret_fingerprint(bytea) IS 'what lego_info() shows of this secret seed, behind "secret:"';
CREATE TABLE lego_secrets (
    secret bytea NOT NULL,
    made timestamptz NOT NULL DEFAULT now(),
    fingerprint text GENERATED ALWAYS AS (lego_secret_fingerprint(secret)) STORED
);
COMMENT ON TABLE lego_secrets IS 'the secret seeds of sketches; the oldest is what new sketches get';
INSERT INTO lego_secrets (secret) -- 16 of 32 bytes that two random UUIDs were hashed to: 244 random bits
    SELECT substr(sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())), 1, 16);
REVOKE ALL ON lego_secrets FROM PUBLIC;
ALTER TABLE lego_secrets ENABLE ROW LEVEL SECURITY;
ALTER TABLE lego_secrets REPLICA IDENTITY FULL; -- or rows that are published could not be deleted
ALTER TABLE lego_secrets OWNER TO @extowner@;
SELECT pg_extension_config_dump('lego_secrets', '');

-- Also of rows that a replica or a restore brings.
CREATE FUNCTION legosketch_secrets_changed() RETURNS trigger AS 'MODULE_PATHNAME', 'legosketch_secrets_changed' LANGUAGE C;
CREATE TRIGGER changed AFTER INSERT OR UPDATE OR DELETE ON lego_secrets
    FOR EACH ROW EXECUTE FUNCTION legosketch_secrets_changed();
ALTER TABLE lego_secrets ENABLE ALWAYS TRIGGER changed;
-- Row security does not keep TRUNCATE from whoever was granted all on all tables.
CREATE TRIGGER kept BEFORE TRUNCATE ON lego_secrets FOR EACH STATEMENT EXECUTE FUNCTION legosketch_secrets_changed();
ALTER TABLE lego_secrets ENABLE ALWAYS TRIGGER kept;

-- ---- the type: the bytes that the library saves, checked on every way in. Bytes need no code of ours to go out ------

CREATE TYPE legosketch;

CREATE FUNCTION legosketch_in(cstring) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION legosketch_out(legosketch) RETURNS cstring
    AS 'MODULE_PATHNAME', 'legosketch_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION legosketch_recv(internal) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION legosketch_send(legosketch) RETURNS bytea
    AS 'byteasend' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 100;

CREATE TYPE legosketch (
    INPUT = legosketch_in,
    OUTPUT = legosketch_out,
    RECEIVE = legosketch_recv,
    SEND = legosketch_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE legosketch IS 'a frequency sketch: how often did each item occur?';

CREATE FUNCTION legosketch(bytea) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_from_bytea' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION legosketch(bytea) IS 'the sketch of these bytes, if they are one';
CREATE CAST (bytea AS legosketch) WITH FUNCTION legosketch(bytea) AS ASSIGNMENT;
CREATE CAST (legosketch AS bytea) WITHOUT FUNCTION AS ASSIGNMENT;

CREATE FUNCTION legosketch_eq(legosketch, legosketch) RETURNS boolean
    AS 'byteaeq' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 10;
CREATE FUNCTION legosketch_ne(legosketch, legosketch) RETURNS boolean
    AS 'byteane' LANGUAGE internal IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 10;
CREATE FUNCTION legosketch_hash(legosketch) RETURNS integer
    AS 'hashvarlena' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION legosketch_hash_extended(legosketch, bigint) RETURNS bigint
    AS 'hashvarlenaextended' LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE OPERATOR = (
    LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = legosketch_eq, COMMUTATOR = =, NEGATOR = <>,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES
);
CREATE OPERATOR <> (
    LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = legosketch_ne, COMMUTATOR = <>, NEGATOR = =,
    RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR = (legosketch, legosketch) IS 'the same sketch, byte for byte';
COMMENT ON OPERATOR <> (legosketch, legosketch) IS 'not the same sketch';
CREATE OPERATOR CLASS legosketch_ops DEFAULT FOR TYPE legosketch USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 legosketch_hash(legosketch),
    FUNCTION 2 legosketch_hash_extended(legosketch, bigint);

-- ---- aggregates -----------------------------------------------------------------------------------------------------
--
-- An item is text, or any other type that has a rule (docs/postgres.md). The first is a function of its own because what
-- has no type, a quoted literal or a parameter, becomes text there. What follows the item are a budget; or a count, a
-- budget, a seed and a model. SSPACE: what a group of twenty items takes.

CREATE FUNCTION lego_agg_final(internal) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_agg_serial(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'legosketch_agg_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_agg_deserial(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lego_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_moving_final(internal) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_moving_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;

CREATE FUNCTION lego_agg_row(internal, item text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item text, VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item "any", VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item "any", VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_row(internal, item text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_row(internal, item text, VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_row(internal, item "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_row(internal, item "any", VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg' LANGUAGE C STABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_undo(internal, item text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_undo(internal, item text, VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_undo(internal, item "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_moving_undo(internal, item "any", VARIADIC "any") RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_agg_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE lego_agg(item text) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial,
    MSFUNC = lego_moving_row, MINVFUNC = lego_moving_undo, MSTYPE = internal, MSSPACE = 1024,
    MFINALFUNC = lego_moving_final, MFINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item text, VARIADIC "any") (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial,
    MSFUNC = lego_moving_row, MINVFUNC = lego_moving_undo, MSTYPE = internal, MSSPACE = 1024,
    MFINALFUNC = lego_moving_final, MFINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item "any") (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial,
    MSFUNC = lego_moving_row, MINVFUNC = lego_moving_undo, MSTYPE = internal, MSSPACE = 1024,
    MFINALFUNC = lego_moving_final, MFINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item "any", VARIADIC "any") (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial,
    MSFUNC = lego_moving_row, MINVFUNC = lego_moving_undo, MSTYPE = internal, MSSPACE = 1024,
    MFINALFUNC = lego_moving_final, MFINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item text) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item text, VARIADIC "any") (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item "any") (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item "any", VARIADIC "any") (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);

COMMENT ON AGGREGATE lego_agg(text) IS 'the sketch of all items';
COMMENT ON AGGREGATE lego_top_agg(text) IS 'a sketch that also keeps its most frequent items';
COMMENT ON AGGREGATE lego_agg(text, VARIADIC "any") IS 'the sketch of all items: budget; or count, budget, seed, model';
COMMENT ON AGGREGATE lego_top_agg(text, VARIADIC "any") IS 'a sketch that also keeps its most frequent items: budget; or count, budget, seed, model';
COMMENT ON AGGREGATE lego_agg("any") IS 'the sketch of all items';
COMMENT ON AGGREGATE lego_top_agg("any") IS 'a sketch that also keeps its most frequent items';
COMMENT ON AGGREGATE lego_agg("any", VARIADIC "any") IS 'the sketch of all items: budget; or count, budget, seed, model';
COMMENT ON AGGREGATE lego_top_agg("any", VARIADIC "any") IS 'a sketch that also keeps its most frequent items: budget; or count, budget, seed, model';

CREATE FUNCTION lego_merge_agg_row(internal, sketch legosketch) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_merge_agg' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_merge_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_merge_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_moving_merge_row(internal, sketch legosketch) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_merge_agg' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_moving_merge_undo(internal, sketch legosketch) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_moving_merge_agg_undo' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE AGGREGATE lego_merge_agg(sketch legosketch) (
    SFUNC = lego_merge_agg_row, STYPE = internal, SSPACE = 1024,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_merge_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial,
    MSFUNC = lego_moving_merge_row, MINVFUNC = lego_moving_merge_undo, MSTYPE = internal, MSSPACE = 1024,
    MFINALFUNC = lego_moving_final, MFINALFUNC_MODIFY = READ_ONLY, PARALLEL = SAFE
);
COMMENT ON AGGREGATE lego_merge_agg(legosketch) IS 'the sum: the sketch of all items of all of them';

-- ---- sketches out of sketches ---------------------------------------------------------------------------------------

CREATE FUNCTION lego_empty(budget bigint DEFAULT 1048576, seed bigint DEFAULT NULL, model text DEFAULT 'compact',
    top boolean DEFAULT false) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_empty' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_empty(budget text, seed bigint DEFAULT NULL, model text DEFAULT 'compact',
    top boolean DEFAULT false) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_empty' LANGUAGE C STABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION lego_empty(bigint, bigint, text, boolean) IS 'the sketch of no items, in at most budget bytes';
COMMENT ON FUNCTION lego_empty(text, bigint, text, boolean) IS 'the sketch of no items, in at most so much, as 64kB';
CREATE FUNCTION lego_add(sketch legosketch, item text, count numeric DEFAULT 1) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_add' LANGUAGE C STABLE PARALLEL SAFE COST 100;
CREATE FUNCTION lego_add(sketch legosketch, item "any", count numeric DEFAULT 1) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_add' LANGUAGE C STABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION lego_add(legosketch, text, numeric) IS 'the sketch with the item counted count times more';
COMMENT ON FUNCTION lego_add(legosketch, "any", numeric) IS 'the sketch with the item counted count times more';
CREATE FUNCTION lego_plus(legosketch, legosketch) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_plus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_minus(legosketch, legosketch) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE OPERATOR + (LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = lego_plus);
CREATE OPERATOR || (LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = lego_plus);
CREATE OPERATOR - (LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = lego_minus);
CREATE FUNCTION lego_fold(sketch legosketch, blocks bigint) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_fold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_fold_within(sketch legosketch, budget bigint) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_fold_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_fold_within(sketch legosketch, budget text) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_fold_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION lego_plus(legosketch, legosketch)
    IS 'the sketch of both streams of items; also the operators + and ||';
COMMENT ON FUNCTION lego_minus(legosketch, legosketch) IS 'the sketch of what the first has more; also the operator -';
COMMENT ON OPERATOR + (legosketch, legosketch) IS 'the sketch of both streams of items';
COMMENT ON OPERATOR || (legosketch, legosketch) IS 'the sketch of both streams of items';
COMMENT ON OPERATOR - (legosketch, legosketch) IS 'the sketch of what the first has more';
COMMENT ON FUNCTION lego_fold(legosketch, bigint)
    IS 'the smaller sketch that so many blocks, a divisor, would have made';
COMMENT ON FUNCTION lego_fold_within(legosketch, bigint) IS 'the largest fold of the sketch in at most budget bytes';
COMMENT ON FUNCTION lego_fold_within(legosketch, text) IS 'the largest fold of the sketch in so much, as 64kB';

-- ---- questions ------------------------------------------------------------------------------------------------------

CREATE FUNCTION lego_estimate(sketch legosketch, item text, absent double precision DEFAULT 0)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'legosketch_estimate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_bounds(sketch legosketch, item text, absent double precision DEFAULT 0, OUT lower bigint,
    OUT upper bigint, OUT likely bigint)
    AS 'MODULE_PATHNAME', 'legosketch_bounds' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimate(sketch legosketch, item "any", absent double precision DEFAULT 0)
    RETURNS double precision
    AS 'MODULE_PATHNAME', 'legosketch_estimate' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_bounds(sketch legosketch, item "any", absent double precision DEFAULT 0, OUT lower bigint,
    OUT upper bigint, OUT likely bigint)
    AS 'MODULE_PATHNAME', 'legosketch_bounds' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimates(sketch legosketch, items anyarray, absent double precision DEFAULT 0)
    RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'legosketch_estimates' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_decode(sketch legosketch, items anyarray, absent double precision DEFAULT 0, OUT item anyelement,
    OUT estimate double precision, OUT lower bigint, OUT upper bigint, OUT likely bigint) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_decode' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100 ROWS 100;
CREATE FUNCTION lego_total(sketch legosketch) RETURNS bigint
    AS 'MODULE_PATHNAME', 'legosketch_total' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_distinct(sketch legosketch) RETURNS bigint
    AS 'MODULE_PATHNAME', 'legosketch_distinct' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_expected_error(sketch legosketch, OUT absolute double precision, OUT relative double precision,
    OUT absolute_error double precision, OUT relative_error double precision)
    AS 'MODULE_PATHNAME', 'legosketch_expected_error' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_show(sketch legosketch) RETURNS text
    AS 'MODULE_PATHNAME', 'legosketch_show' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_info(sketch legosketch) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'legosketch_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION lego_estimate(legosketch, text, double precision)
    IS 'about how often did the item occur?';
COMMENT ON FUNCTION lego_bounds(legosketch, text, double precision)
    IS 'never more often than upper; more often than likely, or less than lower, for 1 % of the items each at most';
COMMENT ON FUNCTION lego_estimate(legosketch, "any", double precision)
    IS 'about how often did the item occur?';
COMMENT ON FUNCTION lego_bounds(legosketch, "any", double precision)
    IS 'never more often than upper; more often than likely, or less than lower, for 1 % of the items each at most';
COMMENT ON FUNCTION lego_estimates(legosketch, anyarray, double precision)
    IS 'about how often did each item occur? An array of the same shape';
COMMENT ON FUNCTION lego_decode(legosketch, anyarray, double precision)
    IS 'about how often did each item occur? A row for each, with bounds';
COMMENT ON FUNCTION lego_total(legosketch) IS 'the sum of all counts: how many items there were';
COMMENT ON FUNCTION lego_distinct(legosketch) IS 'about how many distinct items there are';
COMMENT ON FUNCTION lego_expected_error(legosketch)
    IS 'about what the mean absolute and relative error of estimates is, over the distinct items, and their standard errors';
COMMENT ON FUNCTION lego_show(legosketch) IS 'the sketch in one line, for people';
COMMENT ON FUNCTION lego_info(legosketch)
    IS 'what the sketch is: model, seed, total, distinct items, how many come how often, whether every count is exact, bytes, budget, ...';

-- ---- the most frequent items ---------------------------------------------------------------------------------------

CREATE FUNCTION lego_top(sketch legosketch, k bigint DEFAULT 9223372036854775807, OUT item bytea,
    OUT estimate double precision, OUT lower bigint, OUT upper bigint, OUT likely bigint, OUT exact boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
CREATE FUNCTION lego_top_text(sketch legosketch, k bigint DEFAULT 9223372036854775807, OUT item text,
    OUT estimate double precision, OUT lower bigint, OUT upper bigint, OUT likely bigint, OUT exact boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
CREATE FUNCTION lego_top_int(sketch legosketch, k bigint DEFAULT 9223372036854775807, OUT item bigint,
    OUT estimate double precision, OUT lower bigint, OUT upper bigint, OUT likely bigint, OUT exact boolean)
    RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION lego_top(legosketch, bigint) IS 'the k most frequent items of a sketch of lego_top_agg';
COMMENT ON FUNCTION lego_top_text(legosketch, bigint)
    IS 'the k most frequent items of a sketch of lego_top_agg, as text';
COMMENT ON FUNCTION lego_top_int(legosketch, bigint)
    IS 'the k most frequent items of a sketch of lego_top_agg, as integers';
