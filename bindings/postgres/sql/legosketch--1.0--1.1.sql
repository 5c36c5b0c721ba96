-- The extension legosketch, 1.0 to 1.1: the most frequent items, the total, and the empty sketch.
\echo Use "ALTER EXTENSION legosketch UPDATE TO '1.1'" to load this file. \quit

CREATE FUNCTION lego_top_agg_row(internal, item bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_key' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bigint, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_key_counted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bigint, count bigint, budget bigint, seed bigint, model text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_key_counted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes_counted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item text, count bigint, budget bigint, seed bigint, model text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes_counted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bytea, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bytea, count bigint, budget bigint) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes_counted' LANGUAGE C IMMUTABLE PARALLEL SAFE;
CREATE FUNCTION lego_top_agg_row(internal, item bytea, count bigint, budget bigint, seed bigint, model text) RETURNS internal
    AS 'MODULE_PATHNAME', 'legosketch_top_agg_bytes_counted' LANGUAGE C IMMUTABLE PARALLEL SAFE;

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

COMMENT ON AGGREGATE lego_top_agg(bigint, bigint) IS 'a sketch that also keeps its most frequent items, in at most budget bytes';
COMMENT ON AGGREGATE lego_top_agg(bigint, bigint, bigint) IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_top_agg(bigint, bigint, bigint, bigint, text) IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times, hashed with a seed, of a built-in model: compact, paper or rule';
COMMENT ON AGGREGATE lego_top_agg(text, bigint) IS 'a sketch that also keeps its most frequent items, in at most budget bytes';
COMMENT ON AGGREGATE lego_top_agg(text, bigint, bigint) IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_top_agg(text, bigint, bigint, bigint, text) IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times, hashed with a seed, of a built-in model: compact, paper or rule';
COMMENT ON AGGREGATE lego_top_agg(bytea, bigint) IS 'a sketch that also keeps its most frequent items, in at most budget bytes';
COMMENT ON AGGREGATE lego_top_agg(bytea, bigint, bigint) IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times';
COMMENT ON AGGREGATE lego_top_agg(bytea, bigint, bigint, bigint, text) IS 'a sketch that also keeps its most frequent items, in at most budget bytes, each count times, hashed with a seed, of a built-in model: compact, paper or rule';

CREATE FUNCTION lego_top(sketch legosketch, OUT item bytea, OUT estimate double precision, OUT lower bigint,
                         OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
CREATE FUNCTION lego_top(sketch legosketch, k bigint, OUT item bytea, OUT estimate double precision, OUT lower bigint,
                         OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
CREATE FUNCTION lego_top_text(sketch legosketch, OUT item text, OUT estimate double precision, OUT lower bigint,
                         OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
CREATE FUNCTION lego_top_text(sketch legosketch, k bigint, OUT item text, OUT estimate double precision, OUT lower bigint,
                         OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_text' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
CREATE FUNCTION lego_top_int(sketch legosketch, OUT item bigint, OUT estimate double precision, OUT lower bigint,
                         OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 1000;
CREATE FUNCTION lego_top_int(sketch legosketch, k bigint, OUT item bigint, OUT estimate double precision, OUT lower bigint,
                         OUT upper bigint, OUT exact boolean) RETURNS SETOF record
    AS 'MODULE_PATHNAME', 'legosketch_top_int' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 100;
COMMENT ON FUNCTION lego_top(legosketch) IS 'the most frequent items of a sketch of lego_top_agg';
COMMENT ON FUNCTION lego_top(legosketch, bigint) IS 'the k most frequent items of a sketch of lego_top_agg';
COMMENT ON FUNCTION lego_top_text(legosketch) IS 'the most frequent items of a sketch of lego_top_agg, as text';
COMMENT ON FUNCTION lego_top_text(legosketch, bigint) IS 'the k most frequent items of a sketch of lego_top_agg, as text';
COMMENT ON FUNCTION lego_top_int(legosketch) IS 'the most frequent items of a sketch of lego_top_agg, as integers';
COMMENT ON FUNCTION lego_top_int(legosketch, bigint) IS 'the k most frequent items of a sketch of lego_top_agg, as integers';

CREATE FUNCTION lego_total(sketch legosketch) RETURNS bigint
    AS 'MODULE_PATHNAME', 'legosketch_total' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION lego_total(legosketch) IS 'the sum of all counts: how many items there were';
CREATE FUNCTION lego_empty(budget bigint) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
CREATE FUNCTION lego_empty(budget bigint, seed bigint, model text) RETURNS legosketch
    AS 'MODULE_PATHNAME', 'legosketch_empty' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION lego_empty(bigint) IS 'the sketch of no items, in at most budget bytes';
COMMENT ON FUNCTION lego_empty(bigint, bigint, text) IS 'the sketch of no items, with a seed, of a built-in model';
