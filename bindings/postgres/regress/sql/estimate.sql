-- Estimates, bounds, arrays of items; one sketch for many rows, and many sketches.
CREATE TABLE s AS SELECT 1 AS id, lego_agg('w' || g % 100, 65536) AS words, lego_agg(g % 100, 65536) AS numbers,
    lego_top_agg('w' || g % 100, 65536) AS top FROM generate_series(1, 5000) g;
INSERT INTO s SELECT 2, lego_agg('w' || g % 100, 2, 65536), lego_agg(g % 100, 2, 65536),
    lego_top_agg('w' || g % 100, 2, 65536)
    FROM generate_series(1, 5000) g;

SELECT id, lego_estimate(words, 'w7'), lego_estimate(words, 'w7'::bytea) AS bytes, lego_estimate(numbers, 7) AS number,
    lego_estimate(top, 'w7') AS top,
       lego_estimate(words, 'nothing') AS nothing FROM s ORDER BY id;
SELECT lego_bounds(words, 'w7'), lego_bounds(words, 'w7'::bytea), lego_bounds(numbers, 7),
    (lego_bounds(top, 'w7')).upper FROM s ORDER BY id;
SELECT lego_estimate(NULL, 'a') IS NULL AS sketch, lego_estimate(words, NULL::text) IS NULL AS item FROM s WHERE id = 1;

-- Arrays keep their shape, nulls and bounds.
SELECT lego_estimates(words, '{w1, NULL, w2, none}'::text[]), lego_estimates(words, '{w1}'::bytea[]) AS bytes,
       lego_estimates(numbers, '{{1, 2}, {NULL, 1000}}'::bigint[]) AS square,
    lego_estimates(numbers, '[5:6]={1, 2}'::bigint[]) AS shifted,
       lego_estimates(top, '{w3, ""}'::text[]) AS top FROM s WHERE id = 1;
SELECT lego_estimates(words, '{}'::text[]), lego_estimates(numbers, '{}'::bigint[]) FROM s WHERE id = 2;
SELECT count(*), min(e), max(e) FROM s, unnest(lego_estimates(numbers, (SELECT array_agg(g::bigint)
    FROM generate_series(0, 49999) g))) e WHERE id = 1;
SELECT bool_and(lego_estimate(words, 'w' || g) = (lego_estimates(words, ARRAY['w' || g]))[1]) AS same
    FROM s, generate_series(0, 200) g WHERE id = 1;

-- The sketch kept between rows is always the right one: stored apart, inline, compressed, made in the statement.
SELECT bool_and(lego_estimate(x.sketch, 7) = x.n) FROM generate_series(1, 30) g,
    LATERAL (SELECT numbers AS sketch, 50 * id AS n FROM s WHERE id = 1 + g % 2) x;
CREATE TABLE storages (n int, sketch legosketch);
INSERT INTO storages SELECT n, lego_agg(1, n, 4096) FROM generate_series(1, 20) n GROUP BY n;
INSERT INTO storages SELECT n, lego_agg(g, n, 1 << 16) FROM generate_series(21, 40) n, generate_series(1, 2000) g
    GROUP BY n;
ALTER TABLE storages ALTER sketch SET STORAGE external;
INSERT INTO storages SELECT n, lego_agg(1, n, 4096) FROM generate_series(41, 60) n GROUP BY n;
INSERT INTO storages SELECT n, lego_agg(g, n, 1 << 16) FROM generate_series(61, 80) n, generate_series(1, 2000) g
    GROUP BY n;
SELECT count(*) FILTER (WHERE lego_estimate(sketch, 1) <> n OR lego_total(sketch) % n <> 0) AS wrong FROM storages,
    generate_series(1, 2);
SELECT count(*) FILTER (WHERE lego_estimate(sketch, 1) <> n) AS wrong FROM
    (SELECT n, lego_agg(1, n, 1 << 16) AS sketch FROM generate_series(1, 40) n GROUP BY n) t, generate_series(1, 2);
DROP TABLE storages;

-- In variables, compressed and longer than a page; one that is no sketch in between.
CREATE TABLE compressed AS SELECT n, lego_agg(1, n, 1 << 20, 0, 'paper') AS sketch
    FROM generate_series(1, 2) n GROUP BY n;
SELECT min(pg_column_size(sketch)) > 8192 AS long, max(pg_column_size(sketch)) < 100000 AS compressed FROM compressed;
DO $$
DECLARE
    one legosketch := (SELECT sketch FROM compressed WHERE n = 1);
    two legosketch := (SELECT sketch FROM compressed WHERE n = 2);
    sketch legosketch;
    wrong int := 0;
BEGIN
    FOR i IN 1..20 LOOP
        sketch := CASE WHEN i % 3 = 0 THEN one ELSE two END;
        BEGIN
            IF lego_estimate(CASE WHEN i % 5 = 0 THEN (sketch::bytea || '\x00')::legosketch ELSE sketch END, 1)
                <> (CASE WHEN i % 3 = 0 THEN 1 ELSE 2 END) THEN wrong := wrong + 1; END IF;
        EXCEPTION WHEN invalid_binary_representation THEN
            IF i % 5 <> 0 THEN wrong := wrong + 1; END IF;
        END;
    END LOOP;
    RAISE NOTICE 'wrong: %', wrong;
END $$;
DROP TABLE compressed;

-- How a question is meant: what is exact does not depend on it; the default can be said; a null has no answer.
SELECT lego_estimate(words, 'w7', 0.5), lego_estimate(words, 'w7'::bytea, absent => 0.9) AS bytes,
    lego_estimate(numbers, 7, absent => 0) AS number, lego_estimates(words, '{w1, none}'::text[], 0.3) AS texts,
    lego_estimates(words, '{w1}'::bytea[], 0.25) AS byteas,
    lego_estimates(numbers, '{1, 1000}'::bigint[], absent => 0.5) AS numbers,
    lego_bounds(words, 'w7', 0.5) AS bounds, lego_bounds(numbers, 7, absent => 0.9) AS number_bounds,
    lego_estimate(top, 'w7', 0.5) AS top FROM s WHERE id = 1;
SELECT lego_estimate(words, 'w7', NULL) IS NULL AS estimate, lego_bounds(words, 'w7', NULL) IS NULL AS bounds
    FROM s WHERE id = 1;
CREATE TABLE crowded AS SELECT lego_agg(g, 1 + 1000 / g + g % 4, 4096) AS sketch FROM generate_series(1, 8000) g;
SELECT count(*) AS items, bool_and(plain = same) AS same, bool_and(absent <= plain) AS absent_is_less,
    bool_and(plain = one AND absent = one_absent) AS singly,
    bool_and(plain >= 1) FILTER (WHERE g <= 8000) AS come,
    sum(absent) FILTER (WHERE g > 8000) < 0.5 * sum(plain) FILTER (WHERE g > 8000) AS absent_is_much_less
    FROM (SELECT g, lego_estimate(sketch, g) AS one, lego_estimate(sketch, g, 0.7) AS one_absent,
            (lego_estimates(sketch, a))[1] AS plain, (lego_estimates(sketch, a, 0))[1] AS same,
            (lego_estimates(sketch, a, 0.7))[1] AS absent
        FROM crowded, generate_series(1, 10000, 7) g, LATERAL (SELECT ARRAY[g::bigint, 1, 2]) t(a)) t;
SELECT (info->'expected_aae')::float > 0 AS aae, (info->'expected_are')::float > 0 AS are, info->'exact' AS exact,
    (info->'keeping')::float BETWEEN 0.0001 AND 1 AS keeping FROM crowded, lego_info(sketch) info;
-- Bounds: none is above upper, and 1 % at most above likely, or below lower.
SELECT count(*) FILTER (WHERE n > upper) AS above, count(*) FILTER (WHERE n > likely) <= 80 AS likely,
    count(*) FILTER (WHERE n < lower) <= 80 AS lower, bool_and(lower <= estimate AND estimate <= likely AND likely <= upper) AS ordered
    FROM crowded, LATERAL lego_decode(sketch, (SELECT array_agg(g::bigint) FROM generate_series(1, 8000) g)) d,
    LATERAL (SELECT 1 + 1000 / item + item % 4 AS n) t;
DROP TABLE crowded;

-- What a sketch is.
SELECT lego_info(lego_empty(65536, 0, 'paper'));
SELECT lego_info(words) - '{classes, distinct_error, expected_aae_error, expected_are_error}'::text[] AS words FROM s ORDER BY id;
SELECT lego_info(top) - '{classes, distinct_error, expected_aae_error, expected_are_error}'::text[] AS top FROM s ORDER BY id;
SELECT lego_total(words), lego_total(top) FROM s ORDER BY id;

DROP TABLE s;
