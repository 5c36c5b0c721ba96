-- The extension legosketch: a type, aggregates, + and -, questions. docs/postgres.md is the manual.
\echo Use "CREATE EXTENSION legosketch" to load this file. \quit

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

-- ---- aggregates. SSPACE: a sketch of 512 KB and as much of items that wait for it -----------------------------------

CREATE FUNCTION lego_agg_final(internal) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_agg_final' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_agg_serial(internal) RETURNS bytea
    AS 'MODULE_PATHNAME', 'legosketch_agg_final' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_agg_deserial(bytea, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_deserial' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION lego_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;

CREATE FUNCTION lego_agg_row(internal, item bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item bigint, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item bigint, count bigint, budget bigint, seed bigint, model text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item text, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item text, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item text, count bigint, budget bigint, seed bigint, model text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item bytea, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item bytea, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_agg_row(internal, item bytea, count bigint, budget bigint, seed bigint, model text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE lego_agg(item bigint, budget bigint) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item bigint, count bigint, budget bigint) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item bigint, count bigint, budget bigint, seed bigint, model text) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item text, budget bigint) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item text, count bigint, budget bigint) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item text, count bigint, budget bigint, seed bigint, model text) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item bytea, budget bigint) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item bytea, count bigint, budget bigint) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_agg(item bytea, count bigint, budget bigint, seed bigint, model text) (
    SFUNC = lego_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);

COMMENT ON AGGREGATE lego_agg(bigint, bigint) IS 'the sketch of all items, in at most budget bytes';
COMMENT ON AGGREGATE lego_agg(bigint, bigint, bigint)
    IS 'the sketch of all items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_agg(bigint, bigint, bigint, bigint, text)
    IS 'the sketch of all items, of a seed and a built-in model';
COMMENT ON AGGREGATE lego_agg(text, bigint) IS 'the sketch of all items, in at most budget bytes';
COMMENT ON AGGREGATE lego_agg(text, bigint, bigint)
    IS 'the sketch of all items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_agg(text, bigint, bigint, bigint, text)
    IS 'the sketch of all items, of a seed and a built-in model';
COMMENT ON AGGREGATE lego_agg(bytea, bigint) IS 'the sketch of all items, in at most budget bytes';
COMMENT ON AGGREGATE lego_agg(bytea, bigint, bigint)
    IS 'the sketch of all items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_agg(bytea, bigint, bigint, bigint, text)
    IS 'the sketch of all items, of a seed and a built-in model';

CREATE FUNCTION lego_top_agg_row(internal, item bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bigint, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bigint, count bigint, budget bigint, seed bigint, model text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, count bigint, budget bigint, seed bigint, model text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bytea, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bytea, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bytea, count bigint, budget bigint, seed bigint, model text)
    RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;

CREATE AGGREGATE lego_top_agg(item bigint, budget bigint) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item bigint, count bigint, budget bigint) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item bigint, count bigint, budget bigint, seed bigint, model text) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item text, budget bigint) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item text, count bigint, budget bigint) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item text, count bigint, budget bigint, seed bigint, model text) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item bytea, budget bigint) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item bytea, count bigint, budget bigint) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);
CREATE AGGREGATE lego_top_agg(item bytea, count bigint, budget bigint, seed bigint, model text) (
    SFUNC = lego_top_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial, PARALLEL = SAFE
);

COMMENT ON AGGREGATE lego_top_agg(bigint, bigint)
    IS 'a sketch that also keeps its most frequent items, in at most budget bytes';
COMMENT ON AGGREGATE lego_top_agg(bigint, bigint, bigint)
    IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_top_agg(bigint, bigint, bigint, bigint, text)
    IS 'a sketch that also keeps its most frequent items, of a seed and a built-in model';
COMMENT ON AGGREGATE lego_top_agg(text, bigint)
    IS 'a sketch that also keeps its most frequent items, in at most budget bytes';
COMMENT ON AGGREGATE lego_top_agg(text, bigint, bigint)
    IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_top_agg(text, bigint, bigint, bigint, text)
    IS 'a sketch that also keeps its most frequent items, of a seed and a built-in model';
COMMENT ON AGGREGATE lego_top_agg(bytea, bigint)
    IS 'a sketch that also keeps its most frequent items, in at most budget bytes';
COMMENT ON AGGREGATE lego_top_agg(bytea, bigint, bigint)
    IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_top_agg(bytea, bigint, bigint, bigint, text)
    IS 'a sketch that also keeps its most frequent items, of a seed and a built-in model';

CREATE FUNCTION lego_merge_agg_row(internal, sketch legosketch) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_merge_agg' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_merge_agg_combine(internal, internal) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_merge_agg_combine' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
CREATE AGGREGATE lego_merge_agg(sketch legosketch) (
    SFUNC = lego_merge_agg_row, STYPE = internal, SSPACE = 1048576,
    FINALFUNC = lego_agg_final, FINALFUNC_MODIFY = READ_ONLY,
    COMBINEFUNC = lego_merge_agg_combine, SERIALFUNC = lego_agg_serial, DESERIALFUNC = lego_agg_deserial,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE lego_merge_agg(legosketch) IS 'the sum: the sketch of all items of all of them';

-- ---- sketches out of sketches ---------------------------------------------------------------------------------------

CREATE FUNCTION lego_plus(legosketch, legosketch) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_plus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_minus(legosketch, legosketch) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_minus' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE OPERATOR + (LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = lego_plus);
CREATE OPERATOR - (LEFTARG = legosketch, RIGHTARG = legosketch, FUNCTION = lego_minus);
CREATE FUNCTION lego_fold(sketch legosketch, blocks bigint) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_fold' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_fold_within(sketch legosketch, budget bigint) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_fold_within' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION lego_plus(legosketch, legosketch) IS 'the sketch of both streams of items; also the operator +';
COMMENT ON FUNCTION lego_minus(legosketch, legosketch) IS 'the sketch of what the first has more; also the operator -';
COMMENT ON OPERATOR + (legosketch, legosketch) IS 'the sketch of both streams of items';
COMMENT ON OPERATOR - (legosketch, legosketch) IS 'the sketch of what the first has more';
COMMENT ON FUNCTION lego_fold(legosketch, bigint)
    IS 'the smaller sketch that so many blocks, a divisor, would have made';
COMMENT ON FUNCTION lego_fold_within(legosketch, bigint) IS 'the largest fold of the sketch in at most budget bytes';
CREATE FUNCTION lego_empty(budget bigint) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_empty(budget bigint, seed bigint, model text) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION lego_empty(bigint) IS 'the sketch of no items, in at most budget bytes';
COMMENT ON FUNCTION lego_empty(bigint, bigint, text) IS 'the sketch of no items, with a seed, of a built-in model';

-- ---- questions ------------------------------------------------------------------------------------------------------

CREATE FUNCTION lego_estimate(sketch legosketch, item bigint, absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5) RETURNS double precision
    AS 'MODULE_PATHNAME', 'legosketch_estimate_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimates(sketch legosketch, items bigint[], absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5) RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'legosketch_estimates_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_bounds(sketch legosketch, item bigint, absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5, OUT lower bigint, OUT upper bigint)
    AS 'MODULE_PATHNAME', 'legosketch_bounds_key' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimate(sketch legosketch, item text, absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5) RETURNS double precision
    AS 'MODULE_PATHNAME', 'legosketch_estimate_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimates(sketch legosketch, items text[], absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5) RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'legosketch_estimates_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_bounds(sketch legosketch, item text, absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5, OUT lower bigint, OUT upper bigint)
    AS 'MODULE_PATHNAME', 'legosketch_bounds_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimate(sketch legosketch, item bytea, absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5) RETURNS double precision
    AS 'MODULE_PATHNAME', 'legosketch_estimate_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_estimates(sketch legosketch, items bytea[], absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5) RETURNS double precision[]
    AS 'MODULE_PATHNAME', 'legosketch_estimates_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
CREATE FUNCTION lego_bounds(sketch legosketch, item bytea, absent double precision DEFAULT 0,
    relative double precision DEFAULT 0.5, OUT lower bigint, OUT upper bigint)
    AS 'MODULE_PATHNAME', 'legosketch_bounds_bytes' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_total(sketch legosketch) RETURNS bigint
    AS 'MODULE_PATHNAME', 'legosketch_total' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
CREATE FUNCTION lego_info(sketch legosketch) RETURNS jsonb
    AS 'MODULE_PATHNAME', 'legosketch_info' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION lego_estimate(legosketch, bigint, double precision, double precision)
    IS 'about how often did the item occur?';
COMMENT ON FUNCTION lego_estimates(legosketch, bigint[], double precision, double precision)
    IS 'the same for many items';
COMMENT ON FUNCTION lego_bounds(legosketch, bigint, double precision, double precision)
    IS 'never more often than upper; less often than lower for 5 % at most';
COMMENT ON FUNCTION lego_estimate(legosketch, text, double precision, double precision)
    IS 'about how often did the item occur?';
COMMENT ON FUNCTION lego_estimates(legosketch, text[], double precision, double precision)
    IS 'the same for many items';
COMMENT ON FUNCTION lego_bounds(legosketch, text, double precision, double precision)
    IS 'never more often than upper; less often than lower for 5 % at most';
COMMENT ON FUNCTION lego_estimate(legosketch, bytea, double precision, double precision)
    IS 'about how often did the item occur?';
COMMENT ON FUNCTION lego_estimates(legosketch, bytea[], double precision, double precision)
    IS 'the same for many items';
COMMENT ON FUNCTION lego_bounds(legosketch, bytea, double precision, double precision)
    IS 'never more often than upper; less often than lower for 5 % at most';
COMMENT ON FUNCTION lego_info(legosketch) IS 'what the sketch is: model, seed, total, distinct items, whether every count is exact, bytes, budget, ...';
COMMENT ON FUNCTION lego_total(legosketch) IS 'the sum of all counts: how many items there were';

-- ---- the most frequent items ---------------------------------------------------------------------------------------

CREATE FUNCTION lego_top(sketch legosketch, OUT item bytea, OUT estimate double precision,
    OUT lower bigint, OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
CREATE FUNCTION lego_top(sketch legosketch, k bigint, OUT item bytea, OUT estimate double precision,
    OUT lower bigint, OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
CREATE FUNCTION lego_top_text(sketch legosketch, OUT item text, OUT estimate double precision,
    OUT lower bigint, OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
CREATE FUNCTION lego_top_text(sketch legosketch, k bigint, OUT item text, OUT estimate double precision,
    OUT lower bigint, OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
CREATE FUNCTION lego_top_int(sketch legosketch, OUT item bigint, OUT estimate double precision,
    OUT lower bigint, OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
CREATE FUNCTION lego_top_int(sketch legosketch, k bigint, OUT item bigint, OUT estimate double precision,
    OUT lower bigint, OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION lego_top(legosketch) IS 'the most frequent items of a sketch of lego_top_agg';
COMMENT ON FUNCTION lego_top(legosketch, bigint) IS 'the k most frequent items of a sketch of lego_top_agg';
COMMENT ON FUNCTION lego_top_text(legosketch) IS 'the most frequent items of a sketch of lego_top_agg, as text';
COMMENT ON FUNCTION lego_top_text(legosketch, bigint)
    IS 'the k most frequent items of a sketch of lego_top_agg, as text';
COMMENT ON FUNCTION lego_top_int(legosketch) IS 'the most frequent items of a sketch of lego_top_agg, as integers';
COMMENT ON FUNCTION lego_top_int(legosketch, bigint)
    IS 'the k most frequent items of a sketch of lego_top_agg, as integers';

